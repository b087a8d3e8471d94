"""How a review is scored. The grader uses this same file; you can, too.

A report is Markdown: a title (`# `), then at least three sections (`## `), the heading of the last
with the word conclusion; at most 450 words. Any other form scores 0. Papers are cited in
sentences as `arXiv:2131.01234`. The score is

    groundedness * (retrieval + coverage + findings) / 3

- *groundedness*: the share of sentences with citations that are grounded (see `is_grounded`);
- *retrieval*: F1 of the cited papers against the relevant ones, 2 * correct / (cited + relevant),
  where only a paper that a grounded sentence cites can be correct;
- *coverage*: the share of the topic's aspects that some grounded sentence mentions, with all
  content words of one of the aspect's names, while it cites a paper of that aspect;
- *findings*: the share of the relevant papers whose main result, a number, appears in a grounded
  sentence that cites that paper alone.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST_WORDS = 450
LEAST_SECTIONS = 3
# In one grounded sentence.
MOST_CITED = 3
LEAST_TELLING_WORDS = 5
LEAST_SHARED = 0.5
LONGEST_COPY = 12

CITED = re.compile(r"arXiv:\s?(\d{4}\.\d{4,5})(?:v\d+)?", re.ASCII | re.IGNORECASE)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*", re.ASCII)
WORD = re.compile(r"[a-z0-9]+")
DULL_WORDS = frozenset(
    "a al also an and are as at be been both but by can do does et find finds for from has have "
    "he her his how if in into is it its may more most no not of on or others our out over paper "
    "papers report reports result results she show shows so studied studies study such than that "
    "the their them then there these they this to under use used uses using was we were what when "
    "where which while who why with within without work works would".split()
)


@dataclass(frozen=True)
class Sentence:
    """A sentence without its citations, and the ids that it cites."""

    text: str
    cited: frozenset[str]


def score_report(
    report: str,
    aspects: Sequence[Mapping[str, Any]],
    findings: Mapping[str, int],
    papers: Mapping[str, Mapping[str, Any]],
) -> float:
    """The score of one report, from 0 to 1.

    :param aspects: each with `names` and the arXiv ids of its `papers`
    :param findings: the main result of each relevant paper, by its id
    :param papers: title, abstract, authors and year of every paper that can be cited, by its id
    """
    if not has_form(report):
        return 0.0
    citing = [sentence for sentence in sentences_of(report) if sentence.cited]
    if not citing:
        return 0.0
    grounded = [sentence for sentence in citing if is_grounded(sentence, papers)]
    relevant = {paper for aspect in aspects for paper in aspect["papers"]}
    cited = {paper for sentence in citing for paper in sentence.cited}
    right = relevant & {paper for sentence in grounded for paper in sentence.cited}
    retrieval = 2 * len(right) / (len(cited) + len(relevant))
    coverage = sum(is_covered(aspect, grounded) for aspect in aspects) / len(aspects)
    told = {
        paper
        for sentence in grounded
        for paper in sentence.cited & relevant
        if len(sentence.cited) == 1 and str(findings[paper]) in NUMBER.findall(sentence.text)
    }
    parts = retrieval + coverage + len(told) / len(relevant)
    return len(grounded) / len(citing) * parts / 3


def has_form(report: str) -> bool:
    """Whether there are a title, sections and a conclusion, and not too many words."""
    lines = [line.strip() for line in report.splitlines() if line.strip()]
    headings = [line for line in lines if line.startswith("## ")]
    return (
        bool(lines)
        and lines[0].startswith("# ")
        and len(headings) >= LEAST_SECTIONS
        and "conclusion" in headings[-1].lower()
        and len(CITED.sub(" ", report).split()) <= MOST_WORDS
    )


def sentences_of(report: str) -> list[Sentence]:
    """Sentences of all lines but headings; none extends beyond a paragraph or list item."""
    blocks: list[str] = []
    goes_on = False
    for line in report.splitlines():
        text = line.strip()
        if not text or text.startswith("#"):
            goes_on = False
        elif goes_on and not re.match(r"[-*+] |\d+[.)] ", text):
            blocks[-1] += f" {text}"
        else:
            blocks.append(re.sub(r"^([-*+]|\d+[.)]) ", "", text))
            goes_on = True
    return [
        Sentence(CITED.sub(" ", part), frozenset(CITED.findall(part)))
        for block in blocks
        for part in SENTENCE_END.split(block)
    ]


def is_grounded(sentence: Sentence, papers: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a sentence is supported by the one to three papers that it cites, and not copied.

    All of them exist; it has at least five content words, at least half of which occur in their
    titles, abstracts and authors; each number in it occurs in their titles and abstracts or is
    their year; and no more than 12 consecutive words are copied from an abstract.
    """
    if len(sentence.cited) > MOST_CITED or not sentence.cited <= papers.keys():
        return False
    cited = [papers[identity] for identity in sentence.cited]
    texts = [f"{paper['title']} {paper['abstract']}" for paper in cited]
    numbers = {number for text in texts for number in NUMBER.findall(text)}
    numbers |= {str(paper["year"]) for paper in cited}
    if not set(NUMBER.findall(sentence.text)) <= numbers:
        return False
    known = set(telling(" ".join([*texts, *(" ".join(paper["authors"]) for paper in cited)])))
    words = set(telling(sentence.text))
    if len(words) < LEAST_TELLING_WORDS or len(words & known) < LEAST_SHARED * len(words):
        return False
    own = words_of(sentence.text)
    return all(longest_run(own, words_of(paper["abstract"])) <= LONGEST_COPY for paper in cited)


def is_covered(aspect: Mapping[str, Any], grounded: Sequence[Sentence]) -> bool:
    """Whether a sentence that cites a paper of an aspect mentions it by one of its names."""
    return any(
        set(telling(name)) <= set(telling(sentence.text))
        for sentence in grounded
        if sentence.cited & set(aspect["papers"])
        for name in aspect["names"]
    )


def longest_run(words: Sequence[str], others: Sequence[str]) -> int:
    """The largest number of consecutive words that two texts share."""
    longest = 0
    before = [0] * (len(others) + 1)
    for word in words:
        here = [0] * (len(others) + 1)
        for place, other in enumerate(others):
            if word == other:
                here[place + 1] = before[place] + 1
        longest = max(longest, *here)
        before = here
    return longest


def words_of(text: str) -> list[str]:
    """Words in lower case, without the `s` of plurals."""
    return [
        word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] not in "su" else word
        for word in WORD.findall(text.lower())
    ]


def telling(text: str) -> list[str]:
    """Words that are not stop words; all of them if there are no others."""
    words = words_of(text)
    return [word for word in words if word not in DULL_WORDS and not word.isdigit()] or words
