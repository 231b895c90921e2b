"""make_tokenizer.py: writes the tokenizer of tests/data/models/whisper-long, which was recorded without one: each id of
text is an invented word, so that its transcripts are texts. Run in this folder."""
import json

WORDS, TIMES = 238, 51
SPECIAL = ["endoftext", "startoftranscript", "en", "fr", "de", "translate", "transcribe", "startoflm", "startofprev",
           "nospeech", "notimestamps"]
added = [f"<|{name}|>" for name in SPECIAL] + [f"<|{i * 0.02:.2f}|>" for i in range(TIMES)]
pieces = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
tokenizer = {
    "version": "1.0",
    "added_tokens": [{"id": WORDS + i, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
                      "normalized": False, "special": i < len(SPECIAL)} for i, text in enumerate(added)],
    "normalizer": None,
    "pre_tokenizer": pieces,
    "post_processor": None,
    "decoder": pieces,
    "model": {"type": "BPE", "vocab": {("\u0120" if i % 2 else "") + f"w{i}": i for i in range(WORDS)}, "merges": []},
}
with open("tokenizer.json", "w", encoding="utf-8") as file:
    json.dump(tokenizer, file)
    file.write("\n")
with open("tokenizer_config.json", "w", encoding="utf-8") as file:
    json.dump({"tokenizer_class": "WhisperTokenizer"}, file)
    file.write("\n")
