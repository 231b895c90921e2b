#!/usr/bin/env python3
"""fuzz [--lines N] [--record DIR] PROGRAM [MODEL...] - holds Lapilli's SentencePiece models against the library.

PROGRAM is sentencepiece_lines. For each model, the given ones and some of every kind that are trained here, N random
texts (default 10000) must give the same ids and byte ranges, and random ids and pieces the same text. --record writes
instead: models that have no large character map, and for each model some texts with what the library makes of them.
Needs Python's sentencepiece, version 0.2.2 or later of 0.2 (pip install sentencepiece), since those before broke ties
otherwise; ends with 77 where it is not.
"""

import argparse
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import sentencepiece
except ImportError:
    sentencepiece = None

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]

# ---- models ----

SYMBOLS = {
    "user_defined_symbols": ["<sep>", "ab", "abc", "\u2581of", "x y", "\u00e9\u00e9", "1"],
    "control_symbols": ["<c>"],
}
IDENTITY = {"normalization_rule_name": "identity"}
# The models that are trained; "rules", "denormalizer" and "unused" are not the trainer's own settings.
RECORDED = {
    "unigram-rules": {"rules": True, "byte_fallback": True, "split_by_whitespace": False, "denormalizer": True},
    "unigram-symbols": {"unused": True, "unk_surface": "<?>", **IDENTITY, **SYMBOLS},
    "unigram-suffix": {"treat_whitespace_as_suffix": True, **IDENTITY},
    "unigram-keep-spaces": {"remove_extra_whitespaces": False, **IDENTITY},
    "bpe-bytes": {"model_type": "bpe", "byte_fallback": True, "add_dummy_prefix": False, **IDENTITY},
    "bpe-unused": {"model_type": "bpe", "unused": True, **IDENTITY, **SYMBOLS},
    "char-symbols": {"model_type": "char", "byte_fallback": True, **IDENTITY, **SYMBOLS},
    "word-symbols": {"model_type": "word", **IDENTITY, **SYMBOLS},
}
TRAINED = {
    **RECORDED,
    "unigram": {},
    "unigram-bytes": {"byte_fallback": True},
    "unigram-nfkc-symbols": {"normalization_rule_name": "nfkc", **SYMBOLS},
    "unigram-digits": {"add_dummy_prefix": False, "remove_extra_whitespaces": False, "split_digits": True},
    "unigram-back": {"denormalizer": True, "normalization_rule_name": "nmt_nfkc_cf"},
    "bpe": {"model_type": "bpe", "normalization_rule_name": "nfkc_cf"},
    "bpe-rules": {"model_type": "bpe", "rules": True, "byte_fallback": True},
    "bpe-nfkc-symbols": {"model_type": "bpe", "normalization_rule_name": "nfkc", **SYMBOLS},
    "char": {"model_type": "char"},
    "word": {"model_type": "word"},
    "word-bytes": {"model_type": "word", "byte_fallback": True},
}

# A few rules: case, a ligature, one that is the beginning of another, some that vanish or become spaces.
RULES = "41\t61\nFB01\t66 69\n65 301\tE9\n65 301 301\tEA\n7\t\n9\t20\n3000\t20\nA0\t20 20\n2581\t20\n1F600\t3A 29\n"
BACK = "21\t203D\n61 62\t62 61\n"


def training_texts():
    """The repository's own texts."""
    cases = json.loads((REPOSITORY / "models/en-fr/expected.json").read_text(encoding="utf-8"))["cases"]
    texts = [text for case in cases for text in (case["text"], case["beam4"]["text"])]
    for page in ("README.md", "docs/inside/architecture.md", "docs/inside/tokenizers.md"):
        texts += (REPOSITORY / page).read_text(encoding="utf-8").splitlines()
    return [text for text in texts if text.strip()]


def train(name, folder, temporary):
    settings = {
        "vocab_size": 300,
        "hard_vocab_limit": False,
        "minloglevel": 2,
        "character_coverage": 0.998,
        "num_threads": 1,
        **TRAINED[name],
    }
    if settings.get("byte_fallback"):
        settings["vocab_size"] += 256
    if settings.pop("rules", False):
        (temporary / "rules.tsv").write_text(RULES, encoding="utf-8")
        settings["normalization_rule_tsv"] = str(temporary / "rules.tsv")
    if settings.pop("denormalizer", False):
        (temporary / "back.tsv").write_text(BACK, encoding="utf-8")
        settings["denormalization_rule_tsv"] = str(temporary / "back.tsv")
    unused = settings.pop("unused", False)
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(training_texts()), model_writer=model, **settings)
    file = folder / (name + ".model")
    file.write_bytes(mark_unused(model.getvalue()) if unused else model.getvalue())
    return file


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """(number, value, begin, end) of each field of a protobuf message."""
    at = 0
    while at < len(data):
        begin = at
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            size = {1: 8, 5: 4}[tag & 7]
            value, at = data[at : at + size], at + size
        yield tag >> 3, value, begin, at


def mark_unused(model):
    """Every fifth normal piece of several characters is no longer used, as a restricted vocabulary has it."""
    out, count = b"", 0
    for number, value, begin, end in fields(model):
        piece = {n: v for n, v, _, _ in fields(value)} if number == 1 else {}
        if number == 1 and piece.get(3, 1) == 1 and len(piece[1].decode()) > 1:
            count += 1
            if count % 5 == 0:
                value += b"\x18\x05"
        out += model[begin:end] if number != 1 else b"\x0a" + bytes([len(value)]) + value
    return out


# ---- texts ----

SCRIPTS = [(0x20, 0x7E)] * 6 + [
    (0xA0, 0x17F),
    (0x300, 0x36F),
    (0x370, 0x3FF),
    (0x400, 0x4FF),
    (0x590, 0x5FF),
    (0x600, 0x6FF),
    (0x900, 0x97F),
    (0xE00, 0xE7F),
    (0x1100, 0x11FF),
    (0x1E00, 0x1FFF),
    (0x2000, 0x206F),
    (0x2100, 0x218F),
    (0x2460, 0x24FF),
    (0x2580, 0x2583),
    (0x3000, 0x30FF),
    (0x4E00, 0x4EFF),
    (0xAC00, 0xACFF),
    (0xF900, 0xFAFF),
    (0xFB00, 0xFB4F),
    (0xFE00, 0xFE0F),
    (0xFF00, 0xFFEF),
    (0x1D400, 0x1D4FF),
    (0x1F300, 0x1F64F),
    (0x1F1E6, 0x1F1FF),
    (0xE0000, 0xE007F),
    (0x0, 0x1F),
    (0x7F, 0x9F),
]
ODD = [
    "\u2581",
    "\u2581\u2581",
    " ",
    "  ",
    "\u3000",
    "\u00a0",
    "\t",
    "\n",
    "\r\n",
    "\0",
    "\u200d",
    "\ufeff",
    "\ufffd",
    "\u0301",
    "e\u0301",
    "e\u0301\u0301",
    "<unk>",
    "<s>",
    "</s>",
    "<pad>",
    "<c>",
    "<0x41>",
    "<0x",
    "<sep>",
    "ab",
    "abc",
    "x y",
    "1",
    "000",
    "\u2047",
    " \u2047 ",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\ufb01",
    "\u1100\u1161\u11a8",
    "\u00e9\u00e9\u00e9",
]
BROKEN = [
    b"\xff",
    b"\xc3",
    b"\xe2\x96",
    b"\xf0\x9f\x98",
    b"\xed\xa0\x80",
    b"\xc0\xaf",
    b"\x80",
    b"\xf4\x90\x80\x80",
    b"\xe2\x28\xa1",
]


class Texts:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.words = sorted({word for text in training_texts() for word in text.split()})
        self.sentences = training_texts()

    def character(self):
        while True:
            c = self.random.randint(*self.random.choice(SCRIPTS))
            if self.random.random() < 0.01:
                c = self.random.randint(0, 0x10FFFF)
            if not 0xD800 <= c < 0xE000:
                return chr(c)

    def part(self):
        kind = self.random.random()
        if kind < 0.35:
            return self.random.choice(self.words).encode() + b" "
        if kind < 0.5:
            return "".join(self.character() for _ in range(self.random.randint(1, 8))).encode()
        if kind < 0.75:
            return self.random.choice(ODD).encode()
        if kind < 0.85:
            return self.random.choice(ODD + [self.character()]).encode() * self.random.randint(2, 40)
        if kind < 0.95:
            word = self.random.choice(self.words)
            return word[: self.random.randint(1, len(word))].encode()
        return self.random.choice(BROKEN)

    def text(self, number):
        if number % 500 == 1:
            return self.random.choice(ODD + ["0", "a", "\u00e9", self.character()]).encode() * self.random.randint(
                500, 5000
            )
        if number % 10 == 0:
            return self.random.choice(self.sentences).encode()
        return b"".join(self.part() for _ in range(self.random.randint(0, 12)))

    def ids(self, size):
        return [self.random.randrange(size) for _ in range(self.random.randint(0, 12))]

    def pieces(self, processor):
        known = [processor.id_to_piece(i) for i in self.ids(processor.get_piece_size())]
        return [self.random.choice(ODD) if self.random.random() < 0.2 else piece for piece in known]


# ---- comparison ----


def of_library(processor, text):
    """[(id, begin, end)] with bytes; None where the library cannot."""
    try:
        message = processor.encode(text, out_type="serialized_proto")
    except Exception:
        return None
    pieces = []
    for number, value, _, _ in fields(message):
        if number == 2:
            piece = {n: v for n, v, _, _ in fields(value)}
            pieces.append([piece.get(2, 0), piece.get(4, 0), piece.get(5, 0)])
    # The library gives a character that is spelled in bytes to the last of them only.
    for before, after in zip(reversed(pieces[:-1]), reversed(pieces[1:])):
        if before[1] == before[2] == after[1] and processor.is_byte(before[0]) and processor.is_byte(after[0]):
            before[2] = after[2]
    return pieces


def shown(pieces):
    return " ".join("%d:%d-%d" % tuple(piece) for piece in pieces)


def questions(processor, texts, lines):
    """(question, answer) for the program. Texts that the library gives up are left out, and counted."""
    asked, given_up = [], 0
    for number in range(lines):
        text = texts.text(number)
        pieces = of_library(processor, text)
        if pieces is None:
            given_up += 1
            continue
        asked.append(("e " + text.hex(), shown(pieces)))
        ids = [piece[0] for piece in pieces] if number % 2 == 0 else texts.ids(processor.get_piece_size())
        asked.append(("d " + " ".join(map(str, ids)), processor.decode(ids).encode().hex()))
        strings = texts.pieces(processor)
        asked.append(
            ("p " + " ".join(p.encode().hex() for p in strings), processor.decode_pieces(strings).encode().hex())
        )
    return asked, given_up


def compare(program, model, lines):
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    asked, given_up = questions(processor, Texts(str(model.name)), lines)
    run = subprocess.run(
        [program, str(model)], input="".join(q + "\n" for q, _ in asked), capture_output=True, text=True
    )
    answers = run.stdout.split("\n")[:-1]
    wrong = [(q, a, got) for (q, a), got in zip(asked, answers) if a != got]
    if run.returncode != 0 or len(answers) != len(asked):
        print("%s: the program ended with %d: %s" % (model, run.returncode, run.stderr))
        return False
    print(
        "%s: %d of %d differ%s"
        % (model, len(wrong), len(asked), ", the library gave up %d" % given_up if given_up else "")
    )
    for question, answer, got in wrong[:3]:
        print("  %s\n    library %s\n    lapilli %s" % (question[:400], answer[:400], got[:400]))
    return not wrong


def record(model, folder):
    """Some of the questions, with the library's answers, behind the model's path."""
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    name = model.stem if model.parent == folder else "-".join(model.with_suffix("").parts[-2:])
    lines = ["model " + str(model.resolve().relative_to(REPOSITORY))]
    for number, (question, answer) in enumerate(questions(processor, Texts("record"), 60)[0]):
        if len(question) + len(answer) < 600 and len(question) > 2 and (question[0] == "e" or number % 4 == 0):
            lines.append(question + " = " + answer)
    (folder / (name + ".txt")).write_text("\n".join(lines) + "\n", encoding="ascii")


def usable():
    version = sentencepiece.__version__.split(".") if sentencepiece is not None else []
    return version[:2] == ["0", "2"] and int(version[2]) >= 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=int, default=10000)
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("program")
    parser.add_argument("models", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    if not usable():
        print("SKIP: Python has no sentencepiece 0.2.2 (pip install sentencepiece)")
        return 77
    with tempfile.TemporaryDirectory() as name:
        temporary = pathlib.Path(name)
        if arguments.record:
            for model in arguments.models + [train(name, arguments.record, temporary) for name in RECORDED]:
                record(model, arguments.record)
            return 0
        models = arguments.models + [train(name, temporary, temporary) for name in TRAINED]
        results = [compare(arguments.program, model, arguments.lines) for model in models]
    print("%d of %d models agree" % (sum(results), len(results)))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
