"""Searches for hidden values wherever agents can look: `mlab tasks check` runs it, confined.

Prints one line `@leaks {...}`: what was found, what was searched, and what could not be read.
"""

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from beyond_position import beyond_position
from gathered import gathered
from joins import Asked, Pairing, by_keys, holds_all, pairings
from order import Revealed, by_position, revealed_by
from places import Reader, files_below, files_table, hash_of, loaded, package_files
from private_files import NOTHING_TO_COMPARE, public_id, read_private
from relations import SAME_VALUES, Hidden, Relation, lengths, relate
from shown import Shown
from tables import Table, derived, has_decimals, number_of, numbers_of

# A relation this strong is a copy; or suspect, if training data does not show it, too.
COPY, SUSPECT = 0.95, 0.75
# Chance makes such a relation once in 2 ** BITS searches, however many columns are compared.
BITS = 10
FEWEST_SUSPECT = 60
MOST_KEYS = 12
LEAST_REVEALED = 0.02
DEVIATIONS = 5


@dataclass(frozen=True)
class Leak:
    """Where hidden values are, and how to get them from there."""

    place: str
    where: str
    column: str
    hidden: str
    how: str
    relation: str
    strength: float
    rows: int
    share: float


@dataclass
class Question:
    """One private table: the rows of the submission, and what is hidden about them."""

    where: str
    asked: Asked
    hidden: list[Hidden]
    # The public id of the record to which each row belongs, if the rows are elements of lists.
    records: list[str] = field(default_factory=list)
    # What the training data shows, by column: for features that legitimately predict the target.
    trained: dict[str, tuple[list[str], dict[str, list[str]]]] = field(default_factory=dict)


class Search:
    def __init__(self, settings: dict) -> None:
        self.settings = settings
        self.until = time.monotonic() + settings["seconds"]
        self.reader = Reader()
        self.leaks: list[Leak] = []
        self.columns = 0
        self.comparisons = 0
        self.late: list[str] = []
        # Private files whose values are not searched, or only in part, and why.
        self.unsearched: list[str] = []
        self.data = Path(settings["data"])
        self.files = files_below(self.data)
        self.tables: list[Table] = []
        self.questions: list[Question] = []
        self.texts: dict[str, set[str]] = {}

    def run(self) -> None:
        for path in self.files:
            self.tables += self.reader.tables_of(path, f"data/{path.relative_to(self.data)}")
        self.named = list(files_table(self.data, "data", self.files))
        self.questions = [*self.read_private()]
        self.compare_files()
        self.look("data", [*self.tables, *self.named])
        self.look_for_lists()
        self.add_keys()
        starter = Path(self.settings["starter"])
        for path in files_below(starter, [starter / "data"]):
            self.look("starter", self.reader.tables_of(path, str(path.relative_to(starter))))
        if not self.questions and not self.texts:
            return
        packages = Path(self.settings["packages"])
        for path in package_files(packages):
            if time.monotonic() > self.until:
                self.late.append("files of packages")
                break
            where = str(path.relative_to(packages))
            self.look("packages", self.reader.tables_of(path, where, tables_only=True))
        for table in loaded(packages):
            self.look("packages", [table])

    # What is hidden.

    def read_private(self) -> list[Question]:
        private = Path(self.settings["private"])
        questions = []
        for path in files_below(private):
            where = str(path.relative_to(private))
            tables, why = read_private(self.reader, path, where)
            known = public_id(tables, self.tables)
            questions_of = (self.question_of(table, known) for table in tables)
            found = [each for each in questions_of if each is not None]
            questions += found
            has_texts = [self.note_texts(where, table) for table in tables]
            if tables and not found and not any(has_texts):
                why = NOTHING_TO_COMPARE
            if why:
                self.unsearched.append(f"{where}: {why}")
        return questions

    def note_texts(self, where: str, table: Table) -> bool:
        known = len(self.texts)
        for name, values in table.columns.items():
            long = {value for value in values if len(value) >= 40 and " " in value}
            if len(long) >= 5:
                self.texts[f"{where} {name}"] = long
        return len(self.texts) > known

    def question_of(self, table: Table, public: str | None = None) -> Question | None:
        identifier = self.settings["id"]
        targets = [name for name in self.settings["targets"] if name in table.columns]
        hidden = targets or list(table.columns)
        keys: dict[str, list[str]] = {}
        if identifier is not None and identifier["column"] in table.columns:
            keys = {identifier["column"]: table.columns[identifier["column"]]}
            hidden = targets or [name for name in hidden if name not in keys]
        if not keys:
            hidden = [name for name in hidden if name != public or name in targets]
        values = [Hidden(name, table.columns[name]) for name in hidden[:40]]
        values = [each for each in values if len(set(each.values)) > 1]
        if not keys:
            # The rows have no ids: these may be names, or too few to distinguish from chance.
            values = [
                each
                for each in values
                if table.rows >= 20 and (not table.is_key(each.name) or has_decimals(each.values))
            ]
        values += [length for each in values if (length := lengths(each)) is not None]
        if not values:
            return None
        asked = Asked(table.rows, keys)
        records = [] if keys else table.columns.get(public or "", [])
        question = Question(table.where, asked, values, records)
        if keys:
            self.add_features(question, identifier)
        return question

    def add_features(self, question: Question, identifier: dict) -> None:
        """What the public test table and the training tables show."""
        asked, targets = question.asked, set(self.settings["targets"])
        test = next(
            (table for table in self.tables if table.where == f"data/{identifier['from']}"), None
        )
        if test is None:
            return
        rows = dict(next(iter(by_keys(test, asked)), Pairing("", [])).pairs)
        if len(rows) < asked.rows:
            return
        shown = [name for name in test.columns if name != identifier["column"]]
        for name in shown:
            values = [test.columns[name][rows[row]] for row in range(asked.rows)]
            if name not in targets:
                asked.features[name] = values
            unique = len(set(values)) == len(values)
            if len(asked.keys) < MOST_KEYS and unique:
                asked.keys[name] = values
        if not asked.features:
            same = [table for table in self.tables if table.rows == asked.rows]
            widest = max(same, key=lambda table: len(table.columns), default=None)
            if widest is not None and len(widest.columns) > 8:
                asked.features = dict(widest.columns)
        for table in self.tables:
            common = [name for name in asked.features if name in table.columns]
            if table is test or len(common) < 0.8 * len(asked.features) or not common:
                continue
            asked.shown = asked.shown or {name: table.columns[name] for name in common}
            for target in targets & set(table.columns):
                features = {name: table.columns[name] for name in common}
                question.trained.setdefault(target, (table.columns[target], features))

    def add_keys(self) -> None:
        """The names of the rows in a table joined by an id: another table may use them."""
        for question in self.questions:
            asked = question.asked
            if not asked.keys:
                continue
            known = len(asked.keys)
            for table in self.tables:
                if table.where.startswith(f"data/{self.settings['id']['from']}"):
                    continue
                for pairing in list(by_keys(table, asked)):
                    row_of = dict(pairing.pairs)
                    for name, column in table.columns.items():
                        values = [
                            column[row_of[row]] if row in row_of else ""
                            for row in range(asked.rows)
                        ]
                        is_new = all(values != other for other in asked.keys.values())
                        unique = len(set(values)) >= 0.9 * len(values)
                        if is_new and unique and len(asked.keys) < 2 * MOST_KEYS:
                            asked.keys[f"{name} of {table.where}"] = values
            if len(asked.keys) > known:
                self.look("data", self.tables, [question])

    # Where it is searched.

    def look_for_lists(self) -> None:
        for question in self.questions:
            texts = [hidden for hidden in question.hidden if hidden.kind == "text"]
            if texts and question.asked.keys:
                lists = [
                    each for table in self.tables for each in gathered(table, question.asked.keys)
                ]
                self.look("data", lists, [replace(question, hidden=texts)])

    def compare_files(self) -> None:
        secret = {hash_of(path): path.name for path in files_below(Path(self.settings["private"]))}
        for path in self.files:
            name = secret.get(hash_of(path))
            if name is not None and path.stat().st_size > 16:
                where = f"data/{path.relative_to(self.data)}"
                leak = Leak("data", where, "", name, "the file", "the same bytes", 1.0, 0, 1.0)
                self.leaks.append(leak)

    def look(
        self, place: str, tables: list[Table], questions: list[Question] | None = None
    ) -> None:
        for table in tables:
            if time.monotonic() > self.until:
                self.late.append(table.where)
                continue
            self.columns += len(table.columns)
            for question in self.questions if questions is None else questions:
                self.compare(place, table, question)
            self.compare_texts(place, table)

    def compare(self, place: str, table: Table, question: Question) -> None:
        asked = question.asked
        for hidden in question.hidden:
            if hidden.kind == "number" and asked.rows >= 30:
                self.look_for_all(place, table, question, hidden)
        sequences = [hidden.values for hidden in question.hidden if hidden.kind == "class"]
        for pairing in pairings(table, asked, sequences, place):
            share = len(pairing.pairs) / asked.rows
            for name, column in table.columns.items():
                if name in pairing.used and len(pairing.used) == 1 and not is_name(column):
                    continue
                seen = [column[row] for _, row in pairing.pairs]
                columns = {name: seen}
                if is_name(seen) and (place == "data" or name in pairing.used):
                    columns |= derived(name, seen)
                for title, values in columns.items():
                    self.judge(place, table, question, pairing, share, title, values, name)

    def judge(
        self,
        place: str,
        table: Table,
        question: Question,
        pairing: Pairing,
        share: float,
        title: str,
        seen: list[str],
        base: str,
    ) -> None:
        self.comparisons += len(question.hidden)
        bits = BITS + self.comparisons.bit_length()
        for hidden in question.hidden:
            values = [hidden.values[row] for row, _ in pairing.pairs]
            found = relate(values, hidden.kind, seen, bits)
            if found is None or found.strength < SUSPECT:
                continue
            if found.strength < COPY and self.is_honest(question, hidden, table, base, found):
                continue
            if pairing.by_order and self.is_position(pairing, hidden, seen, found, bits):
                continue
            few = len(pairing.pairs) < FEWEST_SUSPECT or share < LEAST_REVEALED
            if few and found.strength < COPY:
                continue
            rows = len(pairing.pairs)
            if question.records:
                records = {question.records[row] for row, _ in pairing.pairs}
                rows, share = len(records), len(records) / len(set(question.records))
            leak = Leak(
                *(place, table.where, title, hidden.name, pairing.how),
                *(found.how, round(found.strength, 3), rows, round(share, 3)),
            )
            self.leaks.append(leak)

    def is_position(
        self, pairing: Pairing, hidden: Hidden, seen: list[str], found: Relation, bits: float
    ) -> bool:
        """Whether it follows from the position, as between any two sorted columns."""
        if found.how == SAME_VALUES and found.strength >= COPY:
            return False
        lie = sorted(range(len(seen)), key=lambda at: pairing.pairs[at][1])
        values = [hidden.values[pairing.pairs[at][0]] for at in lie]
        shown = [seen[at] for at in lie]
        return beyond_position(found, values, hidden.kind, shown, bits) < SUSPECT

    def is_honest(
        self, question: Question, hidden: Hidden, table: Table, column: str, found: Relation
    ) -> bool:
        """A feature that predicts as much in the training data is meant to be learned from."""
        for target, feature in self.trained_like(question, hidden, table, column):
            trained = relate(target, hidden.kind, feature, 0)
            if trained is not None and trained.strength > found.strength - 0.15:
                return True
        return False

    def trained_like(
        self, question: Question, hidden: Hidden, table: Table, column: str
    ) -> Iterator[tuple[list[str], list[str]]]:
        """
        The target and the same column of the training rows: beside the target, or, as in arrays,
        in a table of their own that has the columns of this one and the rows of the target's.
        """
        if hidden.name in question.trained:
            target, features = question.trained[hidden.name]
            if column in features:
                yield target, features[column]
        for known in [each for each in self.tables if hidden.name in each.columns]:
            for twin in self.tables:
                is_like = twin.columns.keys() == table.columns.keys() and column in twin.columns
                # Tables are also read as if their first line was a row.
                more = twin.rows - known.rows
                if is_like and twin is not table and more in (0, 1):
                    yield known.columns[hidden.name], twin.columns[column][more:]

    def look_for_all(self, place: str, table: Table, question: Question, hidden: Hidden) -> None:
        """All hidden numbers, in any order: sorted, or of rows that can't be recognised."""
        trained = question.trained.get(hidden.name)
        for name, column in table.columns.items():
            if len(set(hidden.values)) < 30 or not holds_all(column, hidden.values):
                continue
            if trained is not None and column == trained[0]:
                continue
            if len(set(column)) == len(column) and len(set(hidden.values)) < len(hidden.values):
                continue
            if all(value.isdigit() for value in hidden.values) and len(set(column)) == len(column):
                continue
            leak = Leak(
                *(place, table.where, name, hidden.name, "in any order"),
                *("all of the values", 1.0, len(hidden.values), 1.0),
            )
            self.leaks.append(leak)

    def compare_texts(self, place: str, table: Table) -> None:
        for where, texts in self.texts.items():
            for name, column in table.columns.items():
                found = texts & set(column)
                if len(found) >= 5 and len(found) >= 0.5 * len(texts):
                    leak = Leak(
                        *(place, table.where, name, where, "as texts", "the same values"),
                        *(1.0, len(found), round(len(found) / len(texts), 3)),
                    )
                    self.leaks.append(leak)

    # Order.

    def order(self) -> list[Revealed]:
        found = []
        for question in self.questions:
            asked = question.asked
            if not asked.keys:
                continue
            columns = dict(by_position(asked.rows))
            identifier = next(iter(asked.keys))
            named = {identifier: asked.keys[identifier]}
            named |= derived(identifier, asked.keys[identifier])
            shown = Shown(asked.features)
            ordering = shown.ordering()
            # What the order reveals, the public columns by which the rows are sorted reveal, too.
            counted = {**columns, **(named if is_counted(asked.keys[identifier]) else {})}
            follows = counted if ordering else {}
            columns |= named
            for table in self.named:
                for pairing in by_keys(table, asked):
                    row_of = dict(pairing.pairs)
                    if len(row_of) < asked.rows:
                        continue
                    for name, column in table.columns.items():
                        values = [column[row_of[row]] for row in range(asked.rows)]
                        columns[f"{name} in {table.where}"] = values
                        if is_name(values):
                            columns |= derived(f"{name} in {table.where}", values)
            for hidden in question.hidden:
                if hidden.kind == "text":
                    continue
                for by, column in columns.items():
                    revealed = revealed_by(hidden, by, column)
                    if revealed is None or revealed.deviations < DEVIATIONS:
                        continue
                    by_public = ordering if by in follows else ""
                    if not by_public and revealed.strength > LEAST_REVEALED:
                        by_public = shown.explaining(hidden, column)
                    found.append(replace(revealed, shown=by_public))
        return found


def is_counted(values: list[str]) -> bool:
    """Whether these are numbers at equal distances, such as 0, 1, 2."""
    numbers = numbers_of(values)
    if numbers is None or len(numbers) < 2:
        return False
    step = numbers[1] - numbers[0]
    return all(number == numbers[0] + row * step for row, number in enumerate(numbers))


def is_name(values: list[str]) -> bool:
    """Whether these are ids or names: distinct, short texts."""
    few = values[:200]
    if any(len(value) >= 80 for value in few):
        return False
    if all(number_of(value) is not None for value in few):
        return all(value.isdigit() for value in few) and len(set(values)) == len(values)
    return len(set(few)) > 0.5 * len(few)


def strongest(leaks: list[Leak]) -> list[Leak]:
    """One finding per column, the simplest first; of many columns in one place the strongest."""
    best: dict[tuple[str, str, str], Leak] = {}
    for leak in sorted(leaks, key=lambda leak: (-leak.strength * leak.share, len(leak.column))):
        best.setdefault((leak.where.split(" (")[0], leak.column, leak.hidden), leak)
    kept: dict[str, list[Leak]] = {}
    for leak in best.values():
        kept.setdefault(leak.where.split(" (")[0], []).append(leak)
    return [leak for leaks in kept.values() for leak in leaks[:3]]


def main() -> None:
    start = time.monotonic()
    search = Search(json.loads(sys.argv[1]))
    search.run()
    searched = time.monotonic()
    strongest_first = sorted(search.order(), key=lambda each: -each.strength)
    answer = {
        "leaks": [asdict(leak) for leak in strongest(search.leaks)],
        "revealed": [asdict(each) for each in strongest_first[:60]],
        "hidden": [
            f"{question.where}: {hidden.name} ({hidden.kind}, {question.asked.rows} rows)"
            for question in search.questions
            for hidden in question.hidden
        ],
        "files": search.reader.files,
        "columns": search.columns,
        "unread": search.reader.unread[:50],
        "unsearched": search.unsearched[:50],
        "late": search.late[:20],
        "seconds": [round(searched - start, 2), round(time.monotonic() - searched, 2)],
    }
    print(f"@leaks {json.dumps(answer)}", flush=True)


if __name__ == "__main__":
    main()
