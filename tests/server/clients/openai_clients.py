"""openai_clients.py LAPILLI DATA: the clients of OpenAI's protocol against a server with the small models of DATA
(tests/data). Ends with 77 where openai is not installed (pip install openai llama-index-embeddings-openai
langchain-openai); the other two are left out where they are not."""
import base64
import json
import shutil
import struct
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

try:
    import openai
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

from served import Served

HELLO = [{"role": "user", "content": "Hello!"}]
PLAIN = {"chat_template_kwargs": {"enable_thinking": False}}
GOOD = "Good day! How are you?"


def refused(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was expected")


def models(client):
    names = [model.id for model in client.models.list()]
    assert names == ["ear", "vectors", "talker", "writer"], names
    assert client.models.retrieve("ear").object == "model"
    error = refused(openai.NotFoundError, lambda: client.models.retrieve("gpt-4o"))
    assert error.code == "model_not_found", error


def embeddings(client):
    texts = ["Where is the station?", "A harbour."]
    packed = client.embeddings.create(model="vectors", input=texts)  # base64, the client's default
    plain = client.embeddings.create(model="vectors", input=texts, encoding_format="float")
    raw = client.embeddings.with_raw_response.create(model="vectors", input=texts)
    for one, other, third in zip(packed.data, plain.data, json.loads(raw.text)["data"]):
        values = struct.unpack(f"<{len(other.embedding)}f", base64.b64decode(third["embedding"]))
        assert list(one.embedding) == list(values)
        assert [struct.pack("<f", x) for x in other.embedding] == [struct.pack("<f", x) for x in values]
    assert packed.usage.prompt_tokens == plain.usage.total_tokens > 0
    assert len(client.embeddings.create(model="vectors", input="A", dimensions=8).data[0].embedding) == 8
    ids = refused(openai.BadRequestError, lambda: client.embeddings.create(model="vectors", input=[[9906, 1917]]))
    assert "check_embedding_ctx_length" in str(ids), ids
    long = refused(openai.BadRequestError, lambda: client.embeddings.create(model="vectors", input="harbour " * 3000))
    assert long.param == "input" and "tokens are more than the" in str(long), long


def other_embedders(url):
    expected = openai.OpenAI(base_url=url, api_key="none").embeddings.create(model="vectors", input=["A harbour."])
    expected = list(expected.data[0].embedding)
    try:
        from llama_index.embeddings.openai import OpenAIEmbedding
        embedder = OpenAIEmbedding(model_name="vectors", api_base=url, api_key="none")
        assert embedder.get_text_embedding("A harbour.") == expected
        assert len(embedder.get_text_embedding_batch(["A", "B", "C"])) == 3
    except ImportError as missing:
        print(f"left out: {missing}")
    try:
        from langchain_openai import OpenAIEmbeddings
        embedder = OpenAIEmbeddings(model="vectors", base_url=url, api_key="none", check_embedding_ctx_length=False)
        assert embedder.embed_query("A harbour.") == expected
    except ImportError as missing:
        print(f"left out: {missing}")


def said_by_program(lapilli, ear, sound, *options):
    run = [lapilli, "transcribe", "--quiet", "--model", ear, "--language", "en", *options, sound]
    return subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True).stdout


def transcripts(client, lapilli, ear, sound):
    def ask(**options):
        with open(sound, "rb") as file:
            return client.audio.transcriptions.create(model="whisper-1", file=file, language="en", **options)

    lines = [json.loads(line) for line in said_by_program(lapilli, ear, sound, "--json", "--words").splitlines()]
    verbose = ask(response_format="verbose_json", timestamp_granularities=["word", "segment"])
    assert verbose.language == "english" and verbose.duration > 1
    assert [(s.start, s.end, s.text.strip()) for s in verbose.segments] == [
        (line["begin"], line["end"], line["text"]) for line in lines]
    assert [(w.start, w.end, w.word) for w in verbose.words] == [
        (w["begin"], w["end"], w["text"].strip()) for line in lines for w in line["words"]]
    for segment in verbose.segments:
        assert segment.avg_logprob < 0 and segment.compression_ratio > 0 and segment.tokens, segment
        assert 0 <= segment.no_speech_prob <= 1 and segment.seek >= 0 and segment.temperature == 0
    plain = ask()
    assert plain.text == verbose.text and plain.usage.type == "duration"
    assert ask(response_format="text") == plain.text + "\n"
    assert ask(response_format="srt") == said_by_program(lapilli, ear, sound, "--srt")
    assert ask(response_format="vtt") == said_by_program(lapilli, ear, sound, "--vtt")
    events = list(ask(stream=True))
    assert "".join(event.delta for event in events[:-1]) == events[-1].text == plain.text
    assert events[-1].type == "transcript.text.done"
    assert all(one.logprob <= 0 for one in ask(include=["logprobs"]).logprobs)
    with open(sound, "rb") as file:
        translated = client.audio.translations.create(model="ear", file=file)
    assert translated.text
    error = refused(openai.BadRequestError, lambda: client.audio.transcriptions.create(model="ear", file=b"no sound"))
    assert error.param == "file", error
    refused(openai.NotFoundError, lambda: client.audio.transcriptions.create(model="whisper-2", file=b"no sound"))


def progress(client, url, sound):
    """A transcript that names itself, and a client that watches it from before it comes."""
    events = urllib.request.urlopen(f"{url}/jobs/talk-1/events", timeout=120)
    with open(sound, "rb") as file:
        client.audio.transcriptions.create(model="ear", file=file, extra_headers={"Lapilli-Job": "talk-1"})
    told = [event.split("\n") for event in events.read().decode().split("\n\n") if event]
    assert events.headers["content-type"] == "text/event-stream" and told[-1][0] == "event: end", told
    assert json.loads(told[-1][1].removeprefix("data: ")) == {"status": 200}, told
    done = [json.loads(event[1].removeprefix("data: ")) for event in told[:-1]]
    assert done and done[-1]["done"] == done[-1]["total"] > 0 and done[-1]["tokens"] > 0, told


def chats(client):
    made = client.chat.completions.create(model="talker", messages=HELLO, extra_body=PLAIN)
    assert made.choices[0].message.content == GOOD and made.choices[0].finish_reason == "stop", made
    assert made.usage.total_tokens == made.usage.prompt_tokens + made.usage.completion_tokens
    scored = client.chat.completions.create(model="talker", messages=HELLO, logprobs=True, top_logprobs=1,
                                            extra_body=PLAIN)
    assert all(token.top_logprobs[0].logprob == token.logprob for token in scored.choices[0].logprobs.content)
    stream = client.chat.completions.create(model="talker", messages=HELLO, stream=True, n=2,
                                            stream_options={"include_usage": True}, extra_body=PLAIN)
    texts, ends, chunks = ["", ""], [None, None], list(stream)
    for chunk in chunks[:-1]:
        choice = chunk.choices[0]
        texts[choice.index] += choice.delta.content or ""
        ends[choice.index] = choice.finish_reason or ends[choice.index]
    assert texts == [GOOD, GOOD] and ends == ["stop", "stop"], (texts, ends)
    assert chunks[-1].choices == [] and chunks[-1].usage.completion_tokens > 0
    cut = client.chat.completions.create(model="talker", messages=HELLO, max_tokens=2, extra_body=PLAIN)
    assert cut.choices[0].finish_reason == "length" and cut.usage.completion_tokens == 2
    stopped = client.chat.completions.create(model="talker", messages=HELLO, stop=["! How"], extra_body=PLAIN)
    assert stopped.choices[0].message.content == "Good day", stopped
    picture = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}]
    error = refused(openai.BadRequestError, lambda: client.chat.completions.create(model="talker", messages=picture))
    assert "image_url" in str(error), error


def completions(client):
    made = client.completions.create(model="writer", prompt=["Hello", "A"], max_tokens=3, n=2, seed=3, temperature=1)
    assert [choice.index for choice in made.choices] == [0, 1, 2, 3] and made.usage.completion_tokens <= 12
    scored = client.completions.create(model="writer", prompt="Hello", max_tokens=3, logprobs=1)
    assert len(scored.choices[0].logprobs.tokens) == scored.usage.completion_tokens
    plain = client.completions.create(model="writer", prompt="Hello", max_tokens=12).choices[0].text
    stream = client.completions.create(model="writer", prompt="Hello", max_tokens=12, stream=True)
    assert "".join(chunk.choices[0].text for chunk in stream) == plain


def joined(data, model, tokenizer, to):
    shutil.copytree(data / model, to)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(data / tokenizer / name, to)
    return to


def main(lapilli, data):
    with tempfile.TemporaryDirectory() as folder:
        data, folder = Path(data), Path(folder)
        ear = joined(data, "models/whisper-long/model", "ears", folder / "ear")
        writer = joined(data, "decoders/gpt2/model", "chat/tiny", folder / "writer")
        named = [f"ear={ear}", f"vectors={data / 'sentences/bert-cls/model'}", f"talker={data / 'chat/tiny'}",
                 f"writer={writer}"]
        with Served(lapilli, *(word for name in named for word in ("--model", name))) as served:
            url = served.url + "/v1"
            client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
            models(client)
            embeddings(client)
            other_embedders(url)
            transcripts(client, lapilli, str(ear), str(data / "models/whisper-long/audio/long.wav"))
            progress(client, url, data / "models/whisper-long/audio/long.wav")
            chats(client)
            completions(client)


main(*sys.argv[1:])
print("OK")
