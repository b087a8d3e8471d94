"""Lists of which the rows to predict are parts, and a table of what was chosen before."""

from collections import defaultdict
from itertools import permutations
from statistics import median

from automl.answers import METRIC, RANKED, Answers, shared
from automl.look import Column, Table

CHOSEN = "was chosen"
LEAST_LISTED = 3
"""Rows of a list, on the median."""


def find_choices(test: Table, tables: list[Table]) -> tuple[Table, Answers, list[str | int]] | None:
    """
    The table of what was chosen, of the same two columns as the rows to rank: what the lists are
    for, such as a visit, and what they list; and how long they are. None if nothing is to be
    ranked, or the rows to rank have been chosen already.
    """
    for table in tables if RANKED.search(METRIC) else ():
        for list_of, thing in permutations(shared(test, table), 2):
            asked = pairs_of(test, list_of, thing)
            lists = defaultdict[str, set[str]](set)
            for one, other in asked:
                lists[one].add(other)
            length = median(map(len, lists.values()))
            pairs = pairs_of(table, list_of, thing)
            chosen = set(pairs)
            is_unique = len(set(asked)) == len(asked) and len(chosen) > 0.95 * len(pairs)
            if is_unique and length >= LEAST_LISTED and not chosen & set(asked):
                answers = Answers([Column(CHOSEN, True, 2, ["0", "1"])])
                return table, answers, [list_of, thing, round(length)]
    return None


def pairs_of(table: Table, *names: str) -> list[tuple[str, ...]]:
    return list(zip(*(table.cells[name] for name in names), strict=True))
