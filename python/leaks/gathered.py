"""Tables with several rows for one thing, as tables with a row for each: lists may hide there."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from joins import FEWEST
from tables import Table

# So few rows for each thing are no lists.
FEWEST_EACH = 1.5


def gathered(table: Table, keys: Mapping[str, Sequence[str]]) -> Iterator[Table]:
    """For each column that repeats the values of a key, the other columns as lists of each."""
    for values in keys.values():
        wanted = set(values) - {""}
        for name, column in table.columns.items():
            rows: dict[str, list[int]] = defaultdict(list)
            for row, value in enumerate(column):
                if value in wanted:
                    rows[value].append(row)
            found = sum(map(len, rows.values()))
            if len(rows) < FEWEST or found < FEWEST_EACH * len(rows):
                continue
            lists = {
                other: [" ".join(cells[row] for row in places) for places in rows.values()]
                for other, cells in table.columns.items()
                if other != name
            }
            yield Table(f"{table.where}, the rows of each {name}", {name: list(rows), **lists})
