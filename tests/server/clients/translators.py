"""translators.py LAPILLI: the clients of LibreTranslate, DeepL and Prometheus against a server with the bundled model.
Ends with 77 where a client is not installed (pip install libretranslatepy deep-translator deepl prometheus_client)."""
import json
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

try:
    import deepl
    from deep_translator import LibreTranslator
    from libretranslatepy import LibreTranslateAPI
    from prometheus_client.parser import text_string_to_metric_families
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

from served import Served

STATION, GARE = "Where is the station?", "Où est la gare ?"


def libretranslate(url):
    client = LibreTranslateAPI(url + "/")
    assert client.translate(STATION, "en", "fr") == GARE
    assert client.detect(STATION)[0]["language"] == "en"
    assert [one["code"] for one in client.languages()] == ["en", "fr"]
    try:
        client.translate(STATION, "en", "tlh")
        raise AssertionError("a language that nobody serves")
    except urllib.error.HTTPError as error:
        assert error.code == 400 and "tlh" in json.loads(error.read())["error"]


def deep_translator(url):
    client = LibreTranslator(source="en", target="fr", custom_url=url + "/", api_key="any")
    assert client.translate(STATION) == GARE
    assert client.translate_batch([STATION, STATION]) == [GARE, GARE]


def deepl_texts(url):
    client = deepl.Translator("key", server_url=url)
    result = client.translate_text(STATION, target_lang="FR")
    assert (result.text, result.detected_source_lang, result.billed_characters) == (GARE, "EN", 21), vars(result)
    two = client.translate_text([STATION, "Hello."], source_lang="EN", target_lang="FR", split_sentences="nonewlines")
    assert two[0].text == GARE and len(two) == 2
    tagged = client.translate_text("<p>Where is <b>the station</b>?</p>", target_lang="FR", tag_handling="html")
    assert tagged.text == "<p>Où est <b>la gare</b> ?</p>", tagged.text
    assert [one.code for one in client.get_source_languages()] == ["EN"]
    assert [one.code for one in client.get_target_languages()] == ["FR"]
    usage = client.get_usage()
    assert usage.character.limit == 10**12 and usage.character.count > 0 and not usage.any_limit_reached
    for call in (lambda: client.translate_text(STATION, target_lang="JA"),
                 lambda: client.translate_text(STATION, target_lang="FR", formality="more"),
                 lambda: client.get_glossary("1")):
        try:
            call()
            raise AssertionError("served what nobody serves")
        except deepl.DeepLException as error:
            assert str(error)


def deepl_documents(url):
    client = deepl.Translator("key", server_url=url)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "letter.txt").write_text(STATION + "\n", encoding="utf-8")
        client.translate_document_from_filepath(f"{folder}/letter.txt", f"{folder}/lettre.txt", target_lang="FR")
        assert (Path(folder) / "lettre.txt").read_text(encoding="utf-8") == GARE + "\n"


def deepl_progress(url):
    client = deepl.Translator("key", server_url=url)
    with tempfile.TemporaryDirectory() as folder:
        paper = Path(folder) / "paper.txt"
        paper.write_text("".join(f"{STATION} This is line {i}.\n" for i in range(200)), encoding="utf-8")
        with open(paper, "rb") as file:
            handle = client.translate_document_upload(file, target_lang="FR")
        told = []
        while not told or (told[-1].ok and not told[-1].done):
            time.sleep(0.1)
            told.append(client.translate_document_get_status(handle))
        assert told[-1].done and told[-1].billed_characters == len(paper.read_text(encoding="utf-8"))
        going = [one for one in told if one.status == deepl.DocumentStatus.Status.TRANSLATING]
        assert going and all(one.seconds_remaining >= 1 for one in going), [str(one.status) for one in told]


def prometheus(url):
    text = urllib.request.urlopen(url + "/metrics").read().decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert families["lapilli_requests"].samples and families["lapilli_request_seconds"].type == "histogram"


with Served(sys.argv[1]) as server:
    for check in (libretranslate, deep_translator, deepl_texts, deepl_documents, deepl_progress, prometheus):
        begin = time.monotonic()
        check(server.url)
        print(f"{check.__name__}: {time.monotonic() - begin:.1f} s")
