"""Mimics the API of arXiv for the task's corpus: GET /api/query, answered in Atom.

search_query: words with a field (all:, ti:, abs:, au:) or without (all), phrases in double quotes,
AND, OR, ANDNOT and parentheses; adjacent words mean OR. id_list, start, max_results,
sortBy (relevance, submittedDate) and sortOrder work as on arXiv.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parent))

from papers import Paper, read_papers
from queries import BadQuery, parse_query

from mlab_task.search import Index
from mlab_task.unix_http import Answer, read_service_folders, serve

MOST_RESULTS = 200
ORDERS = ("ascending", "descending")


class Archive:
    """Answers requests about papers, using only what is on the first page of each."""

    def __init__(self, papers: list[Paper]) -> None:
        self._papers = papers
        self._by_id = {paper.arxiv: number for number, paper in enumerate(papers)}
        self._index = Index([f"{paper.title} {paper.abstract}" for paper in papers])

    def respond(self, path: str, query: Mapping[str, str]) -> Answer:
        if path != "/api/query":
            return _atom(404, "", [_error("there is only /api/query")])
        try:
            start = _number(query, "start", 0, 100_000)
            most = _number(query, "max_results", 10, MOST_RESULTS)
            found = self._found(query)
        except BadQuery as problem:
            return _atom(400, "", [_error(str(problem))])
        head = (
            f"<opensearch:totalResults>{len(found)}</opensearch:totalResults>"
            f"<opensearch:startIndex>{start}</opensearch:startIndex>"
            f"<opensearch:itemsPerPage>{most}</opensearch:itemsPerPage>"
        )
        entries = [_entry(self._papers[number]) for number in found[start : start + most]]
        return _atom(200, head, entries)

    def _found(self, query: Mapping[str, str]) -> list[int]:
        """Numbers of the matching papers, in the requested order."""
        asked, identities = query.get("search_query", ""), query.get("id_list", "")
        if not asked.strip() and not identities.strip():
            raise BadQuery("give search_query or id_list")
        found = list(range(len(self._papers)))
        if identities.strip():
            names = [name.strip().split("v")[0] for name in identities.split(",")]
            found = [self._by_id[name] for name in names if name in self._by_id]
        if asked.strip():
            parsed = parse_query(asked)
            fitting = {number for number in found if parsed.fits(self._papers[number])}
            found = [number for number, _ in self._index.search(parsed.words)]
            found = [number for number in found if number in fitting] + sorted(fitting - set(found))
        order, by = query.get("sortOrder", "descending"), query.get("sortBy", "relevance")
        if order not in ORDERS or by not in ("relevance", "submittedDate"):
            raise BadQuery("sortBy: relevance, submittedDate; sortOrder: ascending, descending")
        if by == "submittedDate":
            found.sort(
                key=lambda number: (self._papers[number].year, self._papers[number].month),
                reverse=order == "descending",
            )
        elif order == "ascending":
            found.reverse()
        return found


def _number(query: Mapping[str, str], name: str, default: int, most: int) -> int:
    text = query.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 9 and int(text) <= most):
        raise BadQuery(f"{name} must be an integer from 0 to {most}")
    return int(text)


def _entry(paper: Paper) -> str:
    date = f"{paper.year}-{paper.month:02d}-01T00:00:00Z"
    authors = "".join(f"<author><name>{escape(name)}</name></author>" for name in paper.authors)
    return (
        f"<entry><id>http://arxiv.org/abs/{paper.arxiv}v1</id><updated>{date}</updated>"
        f"<published>{date}</published><title>{escape(paper.title)}</title>"
        f"<summary>{escape(paper.abstract)}</summary>{authors}</entry>"
    )


def _error(message: str) -> str:
    return (
        "<entry><id>http://arxiv.org/api/errors</id><title>Error</title>"
        f"<summary>{escape(message)}</summary></entry>"
    )


def _atom(status: int, head: str, entries: list[str]) -> Answer:
    feed = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<feed xmlns="http://www.w3.org/2005/Atom" '
        'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">'
        f"{head}{''.join(entries)}</feed>\n"
    )
    return Answer(status, "application/atom+xml", feed.encode())


if __name__ == "__main__":
    folders = read_service_folders()
    serve(folders.socket, Archive(read_papers(folders.private / "papers.json")).respond)
