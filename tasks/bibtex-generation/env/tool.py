"""Adds citations to a paragraph, using papers from the local search service.

Run as a script, it scores itself on the paragraphs in data/paragraphs.json with known citations.
"""

import http.client
import json
import os
import re
import socket
from urllib.parse import urlencode

RESULTS = 1
FIELDS = "title,authors,year,venue,externalIds"


class ServiceConnection(http.client.HTTPConnection):
    """HTTP connection to a local service on a Unix socket."""

    def __init__(self, service):
        super().__init__("localhost", timeout=30)
        self._path = f"{os.environ['MLAB_SERVICES']}/{service}.sock"

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def search(query, limit=RESULTS):
    """The papers that match a query best, best first: dicts with FIELDS and paperId."""
    connection = ServiceConnection("search")
    fields = urlencode({"query": query, "limit": limit, "fields": FIELDS})
    connection.request("GET", f"/graph/v1/paper/search?{fields}")
    response = connection.getresponse()
    answer = json.load(response)
    if response.status != 200:
        raise RuntimeError(answer["error"])
    return answer["data"]


def key_of(paper):
    """A citation key such as hsu2019crop."""
    name = paper["authors"][0]["name"].split()[-1]
    word = re.findall(r"[a-z]+", paper["title"].lower())[0]
    return f"{name.lower()}{paper['year']}{word}"


def entry_of(paper):
    """The paper as a BibTeX entry."""
    authors = " and ".join(author["name"] for author in paper["authors"])
    return (
        f"@article{{{key_of(paper)},\n  title = {{{paper['title']}}},\n  author = {{{authors}}},\n"
        f"  journal = {{{paper['venue']}}},\n  year = {{{paper['year']}}},\n"
        f"  doi = {{{paper['externalIds']['DOI']}}}\n}}\n"
    )


def cite(paragraph):
    """The paragraph with citations, and the BibTeX entries of all papers that it cites."""
    papers = search(paragraph)
    keys = ",".join(key_of(paper) for paper in papers)
    return {
        "paragraph": f"{paragraph} \\cite{{{keys}}}",
        "bibtex": "\n".join(entry_of(paper) for paper in papers),
    }


def validate():
    """The mean score on the example paragraphs, whose citations are known."""
    from scoring import Corpus, score_paragraph

    with open("data/paragraphs.json", encoding="utf-8") as file:
        paragraphs = json.load(file)
    scores = []
    for paragraph in paragraphs:
        corpus = Corpus(paper for sentence in paragraph for paper in sentence["papers"])
        sentences = [sentence["text"] for sentence in paragraph]
        needed = [[paper["identity"] for paper in sentence["papers"]] for sentence in paragraph]
        answer = cite(" ".join(sentences))
        scores.append(
            score_paragraph(sentences, needed, answer["paragraph"], answer["bibtex"], corpus)
        )
    return sum(scores) / len(scores)


if __name__ == "__main__":
    print(f"validation citation score: {validate():.4f}")
