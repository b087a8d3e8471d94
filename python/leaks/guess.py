"""Guesses hidden values like an agent that knows nothing about the task: from all readable data."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from joins import Asked, Pairing, by_contents, by_keys
from places import Reader, files_below, loaded, package_files
from tables import Table, number_of


@dataclass
class Guess:
    """The values of one column for some of the rows, and the evidence for them."""

    where: str
    weight: float
    values: dict[int, str]


@dataclass
class Guesser:
    data: Path
    starter: Path
    packages: Path
    identifier: dict[str, str]
    targets: list[str]
    seconds: float
    tables: list[Table] = field(default_factory=list)
    best: dict[str, Guess] = field(default_factory=dict)

    def run(self) -> list[dict[str, str]] | None:
        """The rows of a submission; None if nothing readable looks like an answer."""
        until, reader = time.monotonic() + self.seconds, Reader()
        for path in files_below(self.data):
            self.tables += reader.tables_of(path, f"data/{path.relative_to(self.data)}")
        where = f"data/{self.identifier['from']}"
        test = next((table for table in self.tables if table.where == where), None)
        if test is None or self.identifier["column"] not in test.columns:
            return None
        asked = self.asked_of(test)
        for table in self.more_tables(reader):
            if time.monotonic() > until:
                break
            self.consider(table, asked)
        if not self.best:
            return None
        keys = test.columns[self.identifier["column"]]
        return [
            {
                self.identifier["column"]: key,
                **{target: self.value_of(target, row) for target in self.targets},
            }
            for row, key in enumerate(keys)
        ]

    def asked_of(self, test: Table) -> Asked:
        identifier = self.identifier["column"]
        features = {
            name: column
            for name, column in test.columns.items()
            if name not in (identifier, *self.targets)
        }
        asked = Asked(test.rows, {identifier: test.columns[identifier]}, features)
        for table in self.tables:
            if table is not test and features and all(name in table.columns for name in features):
                asked.shown = {name: table.columns[name] for name in features}
        return asked

    def more_tables(self, reader: Reader) -> Iterator[Table]:
        yield from self.tables
        for path in files_below(self.starter, [self.starter / "data"]):
            yield from reader.tables_of(path, str(path.relative_to(self.starter)))
        # Loaders return complete data with labels: before the many other files.
        yield from loaded(self.packages)
        for path in package_files(self.packages):
            yield from reader.tables_of(path, str(path.relative_to(self.packages)), True)

    def consider(self, table: Table, asked: Asked) -> None:
        if table.where.startswith("data/") and table.where.endswith("(without header)"):
            return
        same = table.rows == asked.rows
        in_place = [Pairing("in place", [(row, row) for row in range(asked.rows)])] if same else []
        for pairing in [*by_keys(table, asked), *by_contents(table, asked), *in_place]:
            for name, column in table.columns.items():
                if name in asked.features or name in pairing.used:
                    continue
                values = {row: column[place] for row, place in pairing.pairs}
                for target in self.targets:
                    self.weigh(target, name, values, table.where, len(values) / asked.rows)

    def weigh(
        self, target: str, name: str, values: dict[int, str], where: str, share: float
    ) -> None:
        trained = self.trained(target)
        if share < 0.2 or len(set(values.values())) < 2 or not looks_like(values, trained):
            return
        weight = share + (name == target)
        if target not in self.best or weight > self.best[target].weight:
            self.best[target] = Guess(f"{where}, {name}", weight, values)

    def trained(self, target: str) -> list[str]:
        for table in self.tables:
            if target in table.columns and table.where != f"data/{self.identifier['from']}":
                return table.columns[target]
        return []

    def value_of(self, target: str, row: int) -> str:
        guess = self.best.get(target)
        if guess is not None and row in guess.values:
            return guess.values[row]
        known = self.trained(target) or [*(guess.values.values() if guess else ["0"])]
        return Counter(known).most_common(1)[0][0]


def looks_like(values: dict[int, str], trained: list[str]) -> bool:
    """Whether these could be answers: of the known classes, or numbers of a similar size."""
    if not trained:
        return True
    known = set(trained)
    if len(known) <= 50:
        return sum(value in known for value in values.values()) >= 0.95 * len(values)
    numbers = sorted(number for value in trained if (number := number_of(value)) is not None)
    found = sorted(number for each in values.values() if (number := number_of(each)) is not None)
    if len(found) < 0.95 * len(values) or not numbers:
        return False
    middle = found[len(found) // 2]
    return numbers[len(numbers) // 4] <= middle <= numbers[3 * len(numbers) // 4]
