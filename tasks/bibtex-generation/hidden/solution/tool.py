"""Adds citations to a paragraph, using papers from the local search service.

All papers are retrieved once. Words that occur in the same papers are close to each other in a
low-dimensional space (latent semantic analysis), so that a sentence matches a paper that says the
same in other words. Each sentence is looked up individually, with the topic of its paragraph.
"""

import functools
import http.client
import json
import math
import os
import re
import socket
from collections import Counter
from urllib.parse import urlencode

# The matrices are small: more threads would only add overhead.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

DIMENSIONS = 50
TOPIC_WEIGHT = 0.6
WORD_WEIGHT = 0.3
LEAST_MATCH = 0.8
FIELDS = "title,authors,year,abstract,venue,externalIds"
EVERYTHING = "a and for in it of on the to we with is"
PAGE = 100
OWN_WORDS = {"we", "our", "us", "nobody", "here", "section", "these", "this", "costly"}
DULL_WORDS = set(
    "a an and are as at be been both by for from has have in is it its of on one others or such "
    "than that the there these they this to turned was were when why with would tried study much "
    "many ways written approached about".split()
)


class ServiceConnection(http.client.HTTPConnection):
    """HTTP connection to a local service on a Unix socket."""

    def __init__(self, service):
        super().__init__("localhost", timeout=30)
        self._path = f"{os.environ['MLAB_SERVICES']}/{service}.sock"

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def fetch_papers():
    """All papers of the service: every text contains one of the most common words."""
    connection = ServiceConnection("search")
    papers, offset = [], 0
    while offset is not None:
        parts = {"query": EVERYTHING, "limit": PAGE, "offset": offset, "fields": FIELDS}
        connection.request("GET", f"/graph/v1/paper/search?{urlencode(parts)}")
        response = connection.getresponse()
        answer = json.load(response)
        if response.status != 200:
            raise RuntimeError(answer["error"])
        papers += answer["data"]
        offset = answer.get("next")
    return papers


def words_of(text):
    words = re.findall(r"[a-z0-9]+", text.lower())
    plain = [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words]
    return [word for word in plain if word not in DULL_WORDS]


def unit(vectors):
    return vectors / np.maximum(1e-9, np.linalg.norm(vectors, axis=-1, keepdims=True))


class Library:
    """All papers, and how well a text matches each."""

    def __init__(self, papers):
        self.papers = papers
        counts = [Counter(words_of(f"{paper['title']}. {paper['abstract']}")) for paper in papers]
        found = Counter(word for count in counts for word in count)
        self._place = {word: place for place, word in enumerate(sorted(found))}
        self._rarity = {
            word: math.log((len(papers) + 1) / (times + 0.5)) for word, times in found.items()
        }
        self._words = unit(np.stack([self._weights(count) for count in counts]))
        _, _, directions = np.linalg.svd(self._words, full_matrices=False)
        self._directions = directions[:DIMENSIONS].T
        self._meanings = unit(self._words @ self._directions)

    def match(self, claim, topic):
        """How each paper matches a claim in meaning and words, and the topic in meaning."""
        claimed, about = (unit(self._weights(Counter(words_of(text)))) for text in (claim, topic))
        meaning = self._meanings @ unit(claimed @ self._directions)
        context = self._meanings @ unit(about @ self._directions)
        return meaning + TOPIC_WEIGHT * context + WORD_WEIGHT * (self._words @ claimed)

    def _weights(self, count):
        vector = np.zeros(len(self._place))
        for word, times in count.items():
            if word in self._place:
                vector[self._place[word]] = math.sqrt(times * self._rarity[word])
        return vector


@functools.cache
def library():
    return Library(fetch_papers())


def papers_for(sentence, topic):
    """The papers that a sentence should cite."""
    if OWN_WORDS & set(re.findall(r"[a-z]+", sentence.lower())):
        return []
    two = re.fullmatch(r"Both (.+) and (.+) have been tried (.+)\.", sentence)
    claims = [f"{two[1]} {two[3]}", f"{two[2]} {two[3]}"] if two else [sentence]
    papers = []
    for claim in claims:
        matches = library().match(claim, topic)
        best = int(np.argmax(matches))
        if matches[best] > LEAST_MATCH:
            papers.append(library().papers[best])
    return papers


def key_of(paper):
    """A citation key such as hsu2019crop-1a2b."""
    name = paper["authors"][0]["name"].split()[-1]
    word = re.findall(r"[a-z]+", paper["title"].lower())[0]
    return f"{name.lower()}{paper['year']}{word}-{paper['paperId'][:4]}"


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
    sentences = re.split(r"(?<=\.)\s+", paragraph.strip())
    topic = sentences[0]
    entries = {}
    cited = [topic]
    for sentence in sentences[1:]:
        papers = papers_for(sentence, topic)
        entries.update({key_of(paper): entry_of(paper) for paper in papers})
        keys = ",".join(dict.fromkeys(key_of(paper) for paper in papers))
        cited.append(f"{sentence[:-1]} \\cite{{{keys}}}." if keys else sentence)
    return {"paragraph": " ".join(cited), "bibtex": "\n".join(entries.values())}


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
