"""Writes a short review of the literature on a topic, from the papers of a local archive.

All papers are retrieved once. Words that occur in the same papers are close to each other in a
low-dimensional space (latent semantic analysis), in which papers are matched with the problem and
each aspect of the topic. For each paper, the report says what it is about and what it found.
"""

import functools
import http.client
import json
import math
import os
import re
import socket
import xml.etree.ElementTree as ElementTree
from collections import Counter
from urllib.parse import urlencode

# The matrices are small: more threads would only add overhead.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

DIMENSIONS = 60
LEAST_ON_PROBLEM = 0.27
LEAST_ON_ASPECT = 0.22
MOST_PAPERS = 12
RESULTS = 200
EVERYTHING = " OR ".join(f"all:{word}" for word in ("and", "for", "of", "on", "to", "we", "is"))
DULL_WORDS = set(
    "a an and are as at be been both by do for from has have in is it its of on the this to use "
    "used was we what when with work while".split()
)
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


def fetch_papers():
    """All papers of the archive: every text contains one of the most common words."""
    papers = []
    while True:
        found = search(EVERYTHING, len(papers))
        papers += found
        if len(found) < RESULTS:
            return papers


def words_of(text):
    words = re.findall(r"[a-z0-9]+", text.lower())
    plain = [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words]
    return [word for word in plain if word not in DULL_WORDS]


def unit(vectors):
    return vectors / np.maximum(1e-9, np.linalg.norm(vectors, axis=-1, keepdims=True))


class Library:
    """All papers, and how well a text matches each in meaning, from -1 to 1."""

    def __init__(self, papers):
        self.papers = papers
        counts = [Counter(words_of(f"{paper['title']}. {paper['abstract']}")) for paper in papers]
        found = Counter(word for count in counts for word in count)
        self._place = {word: place for place, word in enumerate(sorted(found))}
        self._rarity = {
            word: math.log((len(papers) + 1) / (times + 0.5)) for word, times in found.items()
        }
        weights = unit(np.stack([self._weights(count) for count in counts]))
        _, _, directions = np.linalg.svd(weights, full_matrices=False)
        self._directions = directions[:DIMENSIONS].T
        self._meanings = unit(weights @ self._directions)

    def match(self, text):
        return self._meanings @ unit(self._weights(Counter(words_of(text))) @ self._directions)

    def _weights(self, count):
        vector = np.zeros(len(self._place))
        for word, times in count.items():
            if word in self._place:
                vector[self._place[word]] = math.sqrt(times * self._rarity[word])
        return vector


@functools.cache
def library():
    return Library(fetch_papers())


def parts_of(topic):
    """A topic's problem and its aspects."""
    problem, _, rest = topic.rstrip(". ").partition(":")
    parts = [part.strip() for part in rest.split(";") if part.strip()]
    return problem, [re.sub(r"^(and )?(work|the use of) ", "", part) for part in parts]


def papers_on(problem, aspect):
    """The papers that match both the problem and the aspect, best first."""
    on_problem, on_aspect = library().match(problem), library().match(aspect)
    fitting = np.flatnonzero((on_problem > LEAST_ON_PROBLEM) & (on_aspect > LEAST_ON_ASPECT))
    best = sorted(fitting, key=lambda number: -on_problem[number] - on_aspect[number])
    return [library().papers[number] for number in best]


def finding_of(abstract):
    """The sentence with the number of the result, not the one with the number of cases."""
    sentences = re.split(r"(?<=\.)\s+", abstract)
    telling = [
        sentence
        for sentence in sentences
        if re.search(r"\d", sentence) and not re.search(r"\d+ (records|cases)", sentence)
    ]
    return telling[0].rstrip(".") if telling else sentences[-1].rstrip(".")


def lowered(text):
    return text[0].lower() + text[1:]


def summary_of(paper, aspect):
    """One sentence about a paper, with its finding."""
    return (
        f"{paper['authors'][0]} ({paper['year']}) wrote on {lowered(paper['title'])} "
        f"({aspect}): {lowered(finding_of(paper['abstract']))} (arXiv:{paper['arxiv']})."
    )


def review(topic):
    """A report on a topic, in Markdown."""
    problem, aspects = parts_of(topic)
    lines = [f"# {topic}", "", "## Introduction", "", f"This review is about {lowered(problem)}."]
    told = set()
    for aspect in aspects:
        lines += ["", f"## {aspect.capitalize()}", ""]
        papers = [paper for paper in papers_on(problem, aspect) if paper["arxiv"] not in told]
        for paper in papers[: MOST_PAPERS - len(told)]:
            told.add(paper["arxiv"])
            lines += [f"- {summary_of(paper, aspect)}"]
        if not papers:
            lines.append("Nothing else was found.")
    lines += ["", "## Conclusion", "", f"In all, {len(told)} papers bear on the topic."]
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
