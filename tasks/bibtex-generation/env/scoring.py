"""How a paragraph with citations is scored. The grader uses this same file; you can, too.

A paragraph's score is the mean of two F1 values, each 2 * correct / (cited + required), where a
citation counts once for each sentence and paper:

- *which*: the papers that are cited anywhere in the paragraph, against the required ones;
- *where*: the pairs of sentence and paper, against the required ones.

It is 0 if the text was changed, or if the BibTeX entries can't be parsed.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

CITATION = re.compile(r"~?\\cite[pt]?\*?\{([^{}]*)\}")
ENTRY_START = re.compile(r"@(\w+)\s*\{\s*([^\s,{}\"#%'()=\\]+)\s*,", re.ASCII)
FIELD_NAME = re.compile(r"\s*([A-Za-z][\w-]*)\s*=\s*", re.ASCII)
BARE_VALUE = re.compile(r"\w+", re.ASCII)
ARXIV_ID = re.compile(r"\d{4}\.\d{4,5}")


class Unreadable(ValueError):
    """The submission can't be read; the message says why."""


def score_paragraph(
    sentences: Sequence[str],
    needed: Sequence[Iterable[str]],
    cited: str,
    bibtex: str,
    corpus: "Corpus",
) -> float:
    """The score of one paragraph, from 0 to 1.

    :param sentences: the original sentences of the paragraph
    :param needed: for each sentence, the ids of the papers that it must cite
    :param cited: the paragraph with its citations
    :param bibtex: the entries
    """
    try:
        entries = parse_bibtex(bibtex)
        places = citations_by_sentence(sentences, cited)
    except Unreadable:
        return 0.0
    # Computed once per entry: a key may be cited very often.
    found = {key: corpus.find(fields) or f"unknown {key}" for key, fields in entries.items()}
    made = {
        # A key without an entry, or with one that is no paper of the corpus, is a wrong citation.
        (number, found.get(key, f"? {key}"))
        for number, keys in enumerate(places)
        for key in keys
    }
    wanted = {(number, paper) for number, papers in enumerate(needed) for paper in papers}
    which = f1({paper for _, paper in made}, {paper for _, paper in wanted})
    return (which + f1(made, wanted)) / 2


def f1(made: set[Any], wanted: set[Any]) -> float:
    """2 * right / (made + needed); 1 if nothing is needed and nothing was made."""
    both = len(made) + len(wanted)
    return 2 * len(made & wanted) / both if both else 1.0


def citations_by_sentence(sentences: Sequence[str], cited: str) -> list[list[str]]:
    r"""The keys that each sentence cites, `\cite{a,b}` being two.

    A citation belongs to the sentence that contains it or that it directly follows.

    :raises Unreadable: without its citations, and without spaces, the text is not what it was
    """
    pieces = CITATION.split(cited)
    letters = ["".join(text.split()) for text in pieces[::2]]
    ends: list[int] = []
    for sentence in sentences:
        ends.append((ends[-1] if ends else 0) + len("".join(sentence.split())))
    if "".join(letters) != "".join("".join(sentence.split()) for sentence in sentences):
        raise Unreadable("the text was changed")
    places: list[list[str]] = [[] for _ in sentences]
    position = 0
    for text, keys in zip(letters, pieces[1::2], strict=False):
        position += len(text)
        number = next(index for index, end in enumerate(ends) if position <= end)
        places[number] += [key.strip() for key in keys.split(",")]
    return places


def parse_bibtex(text: str) -> dict[str, dict[str, str]]:
    """Entries by key, each with its fields by lower-case name.

    Values are enclosed in braces or quotes, or are single words or numbers. Text between entries
    is skipped, as BibTeX does.

    :raises Unreadable: an entry is incomplete, or a key occurs twice
    """
    entries: dict[str, dict[str, str]] = {}
    place = text.find("@")
    while place >= 0:
        start = ENTRY_START.match(text, place)
        if start is None:
            raise Unreadable(f"no entry begins at character {place}")
        key, place = start[2], start.end()
        if key in entries:
            raise Unreadable(f"the key {key} occurs twice")
        entries[key], place = _parse_fields(text, place)
        place = text.find("@", place)
    return entries


def _parse_fields(text: str, place: int) -> tuple[dict[str, str], int]:
    """The fields from a position on, and the position after the entry's closing brace."""
    fields: dict[str, str] = {}
    while True:
        place = _skip_spaces(text, place)
        if text.startswith("}", place):
            return fields, place + 1
        name = FIELD_NAME.match(text, place)
        if name is None:
            raise Unreadable(f"no field begins at character {place}")
        value, place = _parse_value(text, name.end())
        fields[name[1].lower()] = value
        place = _skip_spaces(text, place)
        if text.startswith(",", place):
            place += 1
        elif not text.startswith("}", place):
            raise Unreadable(f"no comma or brace at character {place}")


def _parse_value(text: str, place: int) -> tuple[str, int]:
    opening = text[place : place + 1]
    if opening not in ("{", '"'):
        word = BARE_VALUE.match(text, place)
        if word is None:
            raise Unreadable(f"no value at character {place}")
        return word[0], word.end()
    depth = 0
    for index in range(place + 1, len(text)):
        letter = text[index]
        closes = letter == ("}" if opening == "{" else '"') and depth == 0
        if closes:
            return text[place + 1 : index], index + 1
        depth += (letter == "{") - (letter == "}")
        if depth < 0:
            break
    raise Unreadable(f"the value at character {place} has no end")


def _skip_spaces(text: str, place: int) -> int:
    while place < len(text) and text[place].isspace():
        place += 1
    return place


class Corpus:
    """Finds the paper of an entry by its DOI, its arXiv id and its title."""

    def __init__(self, papers: Iterable[Mapping[str, Any]]) -> None:
        """Each paper has `identity`, `doi`, `arxiv` and `title`."""
        self._by_doi: dict[str, str] = {}
        self._by_arxiv: dict[str, str] = {}
        self._by_title: dict[str, str] = {}
        for paper in papers:
            self._by_doi[plain_doi(paper["doi"])] = paper["identity"]
            self._by_arxiv[plain_arxiv(paper["arxiv"])] = paper["identity"]
            self._by_title[plain_title(paper["title"])] = paper["identity"]

    def find(self, fields: Mapping[str, str]) -> str | None:
        """The one paper that all identifiers of an entry refer to; None if there is none."""
        named = set()
        if "doi" in fields:
            named.add(self._by_doi.get(plain_doi(fields["doi"])))
        if "eprint" in fields:
            named.add(self._by_arxiv.get(plain_arxiv(fields["eprint"])))
        if "title" in fields:
            named.add(self._by_title.get(plain_title(fields["title"])))
        return named.pop() if len(named) == 1 else None


def plain_title(title: str) -> str:
    """Letters and digits in lower case, without accents, braces and LaTeX commands."""
    words = unicodedata.normalize("NFKD", re.sub(r"\\[A-Za-z]+", "", title)).casefold()
    return "".join(letter for letter in words if letter.isalnum())


def plain_doi(doi: str) -> str:
    return re.sub(r"^(https?://(dx\.)?doi\.org/|doi:)", "", doi.strip().casefold())


def plain_arxiv(identifier: str) -> str:
    """`arXiv:2101.01234v2` is `2101.01234`."""
    found = ARXIV_ID.search(identifier)
    return found[0] if found else identifier.strip().casefold()
