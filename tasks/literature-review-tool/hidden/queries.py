"""Parses search_query of arXiv's API: fields, phrases, AND, OR, ANDNOT, parentheses."""

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass

from papers import Paper

from mlab_task.search import words_of

TOKEN = re.compile(r'\s*([()]|(?:[a-z]+:)?"[^"]*"|(?:[a-z]+:)?[^\s()"]+)')
LONGEST = 2_000
MOST_DEPTH = 50
FIELDS: dict[str, Callable[[Paper], str]] = {
    "all": lambda paper: f"{paper.title} {paper.abstract} {' '.join(paper.authors)}",
    "ti": lambda paper: paper.title,
    "abs": lambda paper: paper.abstract,
    "au": lambda paper: " ".join(paper.authors),
}


class BadQuery(ValueError):
    """What is wrong with a query."""


_words_of = functools.cache(words_of)


@functools.cache
def _word_set(text: str) -> frozenset[str]:
    return frozenset(words_of(text))


@dataclass(frozen=True)
class Query:
    """Which papers match, and all words of the query, to rank them."""

    fits: Callable[[Paper], bool]
    words: str


def parse_query(text: str) -> Query:
    """
    :raises BadQuery: it is too long, an unknown field, a parenthesis or a quote without the other
    """
    if len(text) > LONGEST:
        raise BadQuery(f"a query may have at most {LONGEST} characters")
    tokens: list[str] = []
    place = 0
    while text[place:].strip():
        token = TOKEN.match(text, place)
        if token is None:
            raise BadQuery(f"unclosed quote at character {place}")
        tokens.append(token[1])
        place = token.end()
    parser = _Parser(tokens)
    fits = parser.expression(0)
    if parser.tokens:
        raise BadQuery("unmatched closing parenthesis")
    return Query(fits, " ".join(parser.words))


class _Parser:
    """Operators are applied from left to right, as on arXiv; none between two terms means OR."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.words: list[str] = []

    def expression(self, depth: int) -> Callable[[Paper], bool]:
        if depth > MOST_DEPTH:
            raise BadQuery("too many parentheses")
        parts = [("OR", self._term(depth))]
        while self.tokens and self.tokens[0] != ")":
            operator = self.tokens.pop(0) if self.tokens[0] in ("AND", "OR", "ANDNOT") else "OR"
            parts.append((operator, self._term(depth)))

        def fits(paper: Paper) -> bool:
            result = False
            for operator, term in parts:
                holds = term(paper)
                if operator == "OR":
                    result = result or holds
                else:
                    result = result and holds == (operator == "AND")
            return result

        return fits

    def _term(self, depth: int) -> Callable[[Paper], bool]:
        if not self.tokens:
            raise BadQuery("the query ends too early")
        token = self.tokens.pop(0)
        if token == ")":
            raise BadQuery("unmatched or empty parentheses")
        if token == "(":
            inner = self.expression(depth + 1)
            if not self.tokens:
                raise BadQuery("unclosed parenthesis")
            self.tokens.pop(0)
            return inner
        name, colon, rest = token.partition(":")
        if not colon or '"' in name:
            name, rest = "all", token
        if name not in FIELDS:
            raise BadQuery(f"there is no field {name[:20]!r}; there are {', '.join(FIELDS)}")
        wanted, field = words_of(rest), FIELDS[name]
        self.words.append(" ".join(wanted))

        if len(wanted) == 1:
            return lambda paper: wanted[0] in _word_set(field(paper))

        def fits(paper: Paper) -> bool:
            there = _words_of(field(paper))
            last = len(there) - len(wanted)
            return any(there[i : i + len(wanted)] == wanted for i in range(last + 1))

        return fits
