"""Writes a short review of the literature on a topic, from the papers of a local archive.

Run as a script, it reviews the topics in data/topics.json and prints its score.
"""

import http.client
import json
import os
import re
import socket
import xml.etree.ElementTree as ElementTree
from urllib.parse import urlencode

RESULTS = 8
ATOM = {"atom": "http://www.w3.org/2005/Atom"}

# Every paper that a search has found, by its arXiv id.
SEEN = {}


class ServiceConnection(http.client.HTTPConnection):
    """HTTP connection to a local service on a Unix socket."""

    def __init__(self, service):
        super().__init__("localhost", timeout=30)
        self._path = f"{os.environ['MLAB_SERVICES']}/{service}.sock"

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def search(query, start=0, most=RESULTS):
    """The papers that fit a query, best first: dicts with arxiv, title, abstract, authors, year."""
    connection = ServiceConnection("arxiv")
    fields = urlencode({"search_query": query, "start": start, "max_results": most})
    connection.request("GET", f"/api/query?{fields}")
    response = connection.getresponse()
    feed = ElementTree.fromstring(response.read())
    if response.status != 200:
        raise RuntimeError(feed.findtext("atom:entry/atom:summary", namespaces=ATOM))
    papers = [read_entry(entry) for entry in feed.findall("atom:entry", ATOM)]
    SEEN.update({paper["arxiv"]: paper for paper in papers})
    return papers


def read_entry(entry):
    return {
        "arxiv": entry.findtext("atom:id", namespaces=ATOM).rsplit("/", 1)[1].split("v")[0],
        "title": entry.findtext("atom:title", namespaces=ATOM),
        "abstract": entry.findtext("atom:summary", namespaces=ATOM),
        "authors": [name.text for name in entry.findall("atom:author/atom:name", ATOM)],
        "year": int(entry.findtext("atom:published", namespaces=ATOM)[:4]),
    }


def review(topic):
    """A report on a topic, in Markdown."""
    words = re.findall(r"[a-z]+", topic.lower())
    papers = search(" OR ".join(f"all:{word}" for word in words))
    lines = [f"# {topic}", "", "## Introduction", "", "This report lists papers on the topic.", ""]
    lines += ["## Papers", ""]
    for paper in papers:
        lines.append(
            f'- {paper["authors"][0]} ({paper["year"]}) wrote "{paper["title"]}" '
            f"(arXiv:{paper['arxiv']})."
        )
    lines += ["", "## Conclusion", "", f"There are at least {len(papers)} papers."]
    return "\n".join(lines) + "\n"


def validate():
    """The mean score on the example topics, whose papers and findings are known."""
    from scoring import score_report

    with open("data/topics.json", encoding="utf-8") as file:
        topics = json.load(file)
    scores = [
        score_report(review(topic["text"]), topic["aspects"], topic["findings"], SEEN)
        for topic in topics
    ]
    return sum(scores) / len(scores)


if __name__ == "__main__":
    print(f"validation review score: {validate():.4f}")
