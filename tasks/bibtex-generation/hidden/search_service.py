"""A paper search over the task's corpus that mimics the API of Semantic Scholar.

GET /graph/v1/paper/search?query=…&offset=0&limit=10&fields=title,abstract
GET /graph/v1/paper/{paperId}?fields=title,abstract
"""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parent))

from papers import Paper, read_papers

from mlab_task.search import Index
from mlab_task.unix_http import Answer, read_service_folders, serve

FIELDS = ("paperId", "title", "authors", "year", "abstract", "venue", "externalIds")
MOST_RESULTS = 100
LONGEST_QUERY = 4_000


class BadRequest(Exception):
    """What is wrong with a request."""


class PaperSearch:
    """Answers requests about papers, using only what is on the first page of each."""

    def __init__(self, papers: list[Paper]) -> None:
        self._papers = papers
        self._by_identity = {paper.identity: paper for paper in papers}
        self._index = Index([f"{paper.title} {paper.abstract}" for paper in papers])

    def respond(self, path: str, query: Mapping[str, str]) -> Answer:
        try:
            if path == "/graph/v1/paper/search":
                return _json(200, self._search(query))
            identity = path.removeprefix("/graph/v1/paper/")
            if identity in self._by_identity:
                return _json(200, _shown(self._by_identity[identity], _fields(query)))
        except BadRequest as problem:
            return _json(400, {"error": str(problem)})
        return _json(404, {"error": "There is no such path or paper."})

    def _search(self, query: Mapping[str, str]) -> dict[str, Any]:
        text = query.get("query", "")
        if not text.strip():
            raise BadRequest("Give a query.")
        if len(text) > LONGEST_QUERY:
            raise BadRequest(f"A query may have at most {LONGEST_QUERY} characters.")
        offset = _number(query, "offset", 0, 0, 10_000)
        limit = _number(query, "limit", 10, 1, MOST_RESULTS)
        fields = _fields(query)
        found = self._index.search(text)
        page = found[offset : offset + limit]
        data = [_shown(self._papers[number], fields) for number, _ in page]
        answer: dict[str, Any] = {"total": len(found), "offset": offset, "data": data}
        if offset + limit < len(found):
            answer["next"] = offset + limit
        return answer


def _fields(query: Mapping[str, str]) -> list[str]:
    asked = [name.strip() for name in query.get("fields", "title").split(",")]
    for name in asked:
        if name not in FIELDS:
            raise BadRequest(f"There is no field {name[:40]!r}; there are {', '.join(FIELDS)}.")
    return asked


def _number(query: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    text = query.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 9 and least <= int(text) <= most):
        raise BadRequest(f"{name} must be an integer from {least} to {most}.")
    return int(text)


def _shown(paper: Paper, fields: list[str]) -> dict[str, Any]:
    whole = {
        "title": paper.title,
        "authors": [{"name": name} for name in paper.authors],
        "year": paper.year,
        "abstract": paper.abstract,
        "venue": paper.venue,
        "externalIds": {"DOI": paper.doi, "ArXiv": paper.arxiv},
    }
    return {"paperId": paper.identity} | {name: whole[name] for name in fields if name in whole}


def _json(status: int, value: object) -> Answer:
    return Answer(status, "application/json", json.dumps(value).encode())


if __name__ == "__main__":
    folders = read_service_folders()
    serve(folders.socket, PaperSearch(read_papers(folders.private / "papers.json")).respond)
