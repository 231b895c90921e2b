"""rerankers.py LAPILLI DATA: Cohere's client and requests as text-embeddings-inference has them, against a server with
the small models of DATA (tests/data). Ends with 77 where cohere is not installed (pip install cohere)."""
import json
import math
import sys
import urllib.error
import urllib.request
from pathlib import Path

try:
    import cohere
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

from served import Served

QUERY, DOCUMENTS = "When does it open?", ["The harbour opens at six.", "A cat.", "It rains."]


def cohere_rerank(url):
    second = cohere.ClientV2(api_key="none", base_url=url)
    made = second.rerank(model="judge", query=QUERY, documents=DOCUMENTS, top_n=2)
    scores = [one.relevance_score for one in made.results]
    assert len(scores) == 2 and scores == sorted(scores, reverse=True) and all(0 <= s <= 1 for s in scores), made
    first = cohere.Client(api_key="none", base_url=url)
    old = first.rerank(model="judge", query=QUERY, documents=DOCUMENTS, return_documents=True)
    assert [one.document.text for one in old.results] == [DOCUMENTS[one.index] for one in old.results], old
    assert [one.index for one in old.results][:2] == [one.index for one in made.results]
    try:
        second.rerank(model="rerank-v3.5", query=QUERY, documents=DOCUMENTS)
        raise AssertionError("a model that nobody serves")
    except cohere.errors.NotFoundError as error:
        assert "rerank-v3.5" in str(error)


def post(url, path, body):
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url + path, json.dumps(body).encode(), headers)) as answer:
        return json.load(answer)


def tei(url):
    ranked = post(url, "/rerank", {"query": QUERY, "texts": DOCUMENTS, "return_text": True})
    raw = post(url, "/rerank", {"query": QUERY, "texts": DOCUMENTS, "raw_scores": True})
    for one, other in zip(ranked, raw):
        assert one["text"] == DOCUMENTS[one["index"]] and one["index"] == other["index"]
        assert abs(one["score"] - 1 / (1 + math.exp(-other["score"]))) < 1e-12
    one, two = post(url, "/embed", {"inputs": "A cat."}), post(url, "/embed", {"inputs": ["A cat.", "It rains."]})
    assert len(one) == 1 and len(two) == 2
    assert abs(sum(x * x for x in one[0]) - 1) < 1e-4
    classes = post(url, "/predict", {"inputs": "A cat.", "raw_scores": False})
    assert {"label", "score"} == set(classes[0])
    assert len(post(url, "/predict", {"inputs": [["A cat."], ["A", "B"]]})) == 2
    tokens = post(url, "/tokenize", {"inputs": ["A cat."], "model": "vectors"})
    assert {"id", "text", "special", "start", "stop"} == set(tokens[0][0])
    with urllib.request.urlopen(url + "/info") as answer:
        info = json.load(answer)
    assert info["max_input_length"] > 0 and "model_type" in info
    try:
        post(url, "/embed", {"inputs": "harbour " * 3000})
        raise AssertionError("a text that is too long")
    except urllib.error.HTTPError as error:
        body = json.load(error)
        assert error.code == 413 and body["error_type"] == "Validation" and "tokens" in body["error"], body


def main(lapilli, data):
    judge, vectors = (Path(data) / "sentences" / name / "model" for name in ("cross-bert-identity", "bert-cls"))
    with Served(lapilli, "--model", f"judge={judge}", "--model", f"vectors={vectors}") as served:
        cohere_rerank(served.url)
        tei(served.url)


main(*sys.argv[1:])
print("OK")
