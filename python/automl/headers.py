"""Names for the columns of tables without a header."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from automl.answers import ASKED, ID, NAMES, classes_of
from automl.formats import HEADERS, cells_of, opened
from automl.look import MOST_TABLES, MOST_VALUES, UNREADABLE, kind_of

ENDINGS = (".txt", ".dat", ".data", ".tsv", ".csv")
MOST_LINES = 2_000
LEAST_LINES = 20

Cells = list[list[str]]
"""Of each column."""


def name_columns(ids: list[str]) -> None:
    """
    Of one that has ids to predict already in its first line, and one with the same columns and the
    answers; what they are called goes into HEADERS.
    """
    found, known = list(first_lines()), set(ids)
    for asked, test in found:
        places = [n for n, cells in enumerate(test) if set(cells) <= known]
        for path, train in found if places else []:
            if not any(cells[0] in cells[1:] for cells in train):
                continue
            answer, others = answers_among(train, [*test[: places[0]], *test[places[0] + 1 :]])
            if path != asked and answer is not None:
                names = [f"column {n}" for n in range(len(test) - 1)]
                told = [ID] * len(train)
                told[answer] = NAMES[0] if len(NAMES) == 1 else "answer"
                for place, name in zip(others, names, strict=True):
                    told[place] = name
                HEADERS.append([path.as_posix(), told])
                HEADERS.append([asked.as_posix(), [*names[: places[0]], ID, *names[places[0] :]]])
                return


def first_lines() -> Iterator[tuple[Path, Cells]]:
    """Of tables; names of columns do not come again below."""
    paths = [each for each in sorted(Path("data").rglob("*")) if each.name.endswith(ENDINGS)]
    for path in paths[:MOST_TABLES]:
        rows: list[list[str]] = []
        with suppress(*UNREADABLE), opened(path) as file:
            rows += [row for row, _ in zip(cells_of(file), range(MOST_LINES), strict=False)]
        columns = list(map(list, zip(*rows, strict=False)))
        are_rows = len(rows) >= LEAST_LINES and len({len(row) for row in rows}) == 1
        if are_rows and len(columns) > 1:
            yield path, columns


def answers_among(train: Cells, known: Cells) -> tuple[int | None, list[int]]:
    """
    The place of the answers, and those of columns that are of the same kinds as what is known of
    the rows to predict. There may be ids besides.
    """
    kinds = [kind_of(cells) for cells in known]
    for answer in reversed(range(len(train))):
        values = sorted(set(train[answer]))
        allowed = ASKED[0][4] if len(ASKED) == 1 else []
        if len(values) > MOST_VALUES or (allowed and not set(values) <= set(allowed)):
            continue
        if len(NAMES) > 1 and not classes_of(NAMES, values):
            continue
        rest = [place for place in range(len(train)) if place != answer]
        for others in (rest, *([p for p in rest if p != own] for own in rest)):
            if [kind_of(train[place]) for place in others] == kinds:
                return answer, others
    return None, []
