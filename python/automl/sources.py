"""What of the data folder is to be learned from: the largest source that has the answers."""

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from automl.answers import (
    ID,
    NAMES,
    TEST,
    Answers,
    NoModelError,
    Source,
    answers_in,
    kinds_of,
    shared,
)
from automl.cells import numbers_in
from automl.formats import PICTURE_ENDINGS, RECORDING_ENDINGS, read_table, tables_in
from automl.look import (
    NamedFiles,
    Table,
    files_named_in,
    find_tables,
    folders_of_classes,
    kind_of,
    read_head,
)
from automl.pairs import find_pair
from automl.rows import has_more, named_by_file, ways_to_read, without_targets

MOST_ROWS_JOINED = 500_000
"""Reading larger tables would take most of the time."""


def find_data() -> tuple[str, Source]:
    """The path of the rows to predict, and what is to be learned from."""
    listed = read_head(Path(TEST)) if Path(TEST).is_file() else None
    if listed is None or ID not in listed.cells:
        raise NoModelError(f"{TEST} does not list the ids")
    tables = [named_by_file(each, listed) for each in find_tables()]
    for test, others in ways_to_read(listed, tables):
        source = find_source(test, others)
        is_part = any(each.path == test.path for each in others)
        if source is not None and (source.kind == "table" or not is_part):
            if is_part:
                source.settings["TEST_IDS"] = TEST
            return test.path.as_posix(), source
    source = None if has_more(listed) else find_joined(without_targets(listed), tables)
    if source is None:
        raise NoModelError(
            "nothing in the data folder has the asked columns beside what the rows to predict have"
        )
    return TEST, source


def find_source(test: Table, tables: list[Table]) -> Source | None:
    named, pair = next(iter(files_named_in(test)), None), find_pair(test, tables)
    # A table in the order of an array does not have all there is to learn from.
    if pair is not None and "LABELS" not in pair.settings:
        return pair
    # What files hold is read beside the columns of the table that names them.
    return (
        (named and find_files(test, tables, named))
        or find_table(test, tables, named is not None)
        or pair
    )


def find_table(test: Table, tables: list[Table], names_files: bool) -> Source | None:
    sharing = [table for table in tables if shared(test, table)]
    if names_files:
        # The path of a file has no information by itself.
        sharing = [each for each in sharing if kinds_of(test, each).keys() & {"text", "number"}]
    sharing.sort(key=lambda table: -table.rows)
    for table in sharing:
        answers = answers_in(test, table)
        if answers:
            return table_source(test, tables, table, None, answers)
    # The answers may be in a separate table, perhaps under another name.
    asked = set(test.cells.get(ID, []))
    for renamed in (False, True):
        for table in sharing:
            for other in tables:
                if can_tell(table, other) and not shared(test, other):
                    answers = answers_in(test, other, renamed)
                    if answers and not (renamed and asked & set(other.cells.get(ID, []))):
                        return table_source(test, tables, table, other, answers)
    # A table that has little of what is known of the rows to predict only says more about them.
    known = test.cells.keys() - {ID, *NAMES}
    for table in sharing:
        answers = answers_in(test, table, renamed=True)
        if answers and 2 * len(shared(test, table)) > len(known):
            return table_source(test, tables, table, None, answers)
    return None


def can_tell(table: Table, other: Table) -> bool:
    """Whether another table can have the answers for the rows of one: by ids, or in their order."""
    ids = set(other.cells.get(ID, []))
    by_id = 2 * len(ids & set(table.cells.get(ID, []))) > len(ids)
    return by_id or (ID not in other.cells and other is not table and other.rows == table.rows)


def find_joined(test: Table, tables: list[Table]) -> Source | None:
    """Rows that have nothing but ids, of which other tables have one or several rows each."""
    asked = set(test.cells[ID])
    by_id = [each for each in tables if ID in each.cells and each.path != test.path]
    told_of = [each.cells.keys() for each in by_id if asked & set(each.cells[ID])]
    known = {name for names in told_of for name in names} - set(NAMES)
    for table in by_id:
        told, answers = set(table.cells[ID]), answers_in(test, table, renamed=True)
        if answers is None or told & asked or known & {each.name for each in answers.targets}:
            continue
        for other in [each for each in by_id if can_be_joined(test, each)]:
            # Of a large table only the first rows are known here.
            ids = set(other.cells[ID])
            if other is not table and len(ids - told - asked) <= 0.1 * len(ids):
                return table_source(test, tables, table, None, answers)
    return None


def table_source(
    test: Table, tables: list[Table], train: Table, told: Table | None, answers: Answers
) -> Source:
    is_single = told is None and train.path != test.path and not train.path.is_dir()
    more = more_rows(test, train, tables) if is_single else []
    files = [path for folder in train.folders for path in tables_in(folder)]
    parts = files or [each.path for each in [train, *more]]
    settings: dict[str, Any] = {"TRAIN": [path.as_posix() for path in parts]}
    if told:
        settings["ANSWERS"] = told.path.as_posix()
    own = [train, told, *more]
    joined = find_joinable(test, train, [each for each in tables if each not in own])
    file_columns = [each.file_column for each in [train, *joined] if each.file_column]
    if file_columns:
        settings["FILE_COLUMN"] = file_columns[0]
        joined = [each for each in joined if each.file_column in ("", file_columns[0])]
    if joined:
        settings["JOINED"] = list(together(joined).values())
    columns = kinds_of(test, train)
    listed = ", ".join(
        f"{count} of {kind.removesuffix('s')}s" for kind, count in sorted(columns.items())
    )
    if not listed:
        listed = " and ".join(path for paths in settings.get("JOINED", []) for path in paths)
    paths = [train.path.as_posix(), *settings["TRAIN"][1 : 1 + len(more)]]
    place = f"{' and '.join(paths)} ({'columns: ' if columns else 'joined with '}{listed})"
    rows = sum(each.rows for each in [train, *more])
    lists = [numbers_in(cells[0]) for cells in test.cells.values() if cells]
    is_wide = columns["number"] + sum(map(len, lists)) > 300
    beside = Counter(
        kind_of(cells)
        for table in joined
        for name, cells in table.cells.items()
        if name not in {*test.cells, *train.cells}
    )
    return Source("table", place, settings, rows, *answers, columns, is_wide, beside=beside)


def find_joinable(test: Table, train: Table, tables: list[Table]) -> list[Table]:
    """Not by ids of other things, as of the substances in FASTA that rows name."""
    ids = {each for table in (test, train) for each in table.cells.get(ID, [])}
    return [
        each
        for each in tables
        if can_be_joined(test, each)
        and (ID not in each.cells or shared(test, each) or not ids.isdisjoint(each.cells[ID]))
    ]


def together(tables: list[Table]) -> dict[tuple[str, frozenset[str]], list[str]]:
    """Their paths: as one, those of the same name and columns, as in `train/` and `test/`."""
    found = defaultdict[tuple[str, frozenset[str]], list[str]](list)
    for each in tables:
        paths = [path.as_posix() for path in each.folders or [each.path]]
        found[paths[0] if each.folders else each.path.name, frozenset(each.cells)] += paths
    return found


def more_rows(test: Table, train: Table, tables: list[Table]) -> list[Table]:
    """
    Tables of the same columns with rows of their own, as of another year or for validation, but
    with none of those to predict.
    """
    known, found = keys_of(train) | {(each,) for each in test.cells[ID]}, []
    for table in tables:
        is_single = table is not train and not table.path.is_dir()
        if is_single and table.cells.keys() == train.cells.keys():
            keys = keys_of(table)
            if not keys & known:
                known |= keys
                found.append(table)
    return found


def keys_of(table: Table) -> set[tuple[str, ...]]:
    """The ids, or the whole rows where there are none."""
    cells = read_table(table.path.as_posix())
    return set(zip(*([cells[ID]] if ID in cells else cells.values()), strict=True))


def can_be_joined(test: Table, table: Table) -> bool:
    """
    It shares columns, or ids, with the rows to predict, and has other columns besides; or it lists
    which of their rows something holds for.
    """
    is_known = table.cells.keys() <= {*test.cells, *NAMES}
    is_list = bool(table.cells) and table.cells.keys() <= set(test.cells) - {ID}
    has_key = ID in table.cells or bool(shared(test, table))
    return (not is_known or is_list) and has_key and table.rows <= MOST_ROWS_JOINED


def find_files(test: Table, tables: list[Table], named: NamedFiles) -> Source | None:
    """A table with the answers that lists files like those to predict, or a folder of classes."""
    for table, renamed in product([*tables, *folders_of_classes()], (False, True)):
        found = [each for each in files_named_in(table) if each.ending == named.ending]
        if not found or table.path.as_posix() == named.folder:
            continue
        files = found[0]
        cells = {name: cells for name, cells in table.cells.items() if name != files.column}
        answers = answers_in(test, replace(table, cells=cells), renamed)
        if answers:
            settings = {
                "TRAIN": [table.path.as_posix()],
                "TRAIN_FILES": [files.column, files.folder, files.suffix],
                "TEST_FILES": [named.column, named.folder, named.suffix],
            }
            are_pictures = named.ending in PICTURE_ENDINGS
            are_recordings = named.ending in RECORDING_ENDINGS
            kind = "recording" if are_recordings else "picture" if are_pictures else "text"
            place = f"{table.path.as_posix()} (files *{named.ending})"
            beside = kinds_of(test, table, [files.column, named.column])
            more = (Counter([kind]) + beside, kind != "text", are_pictures)
            rows = table.rows
            return Source("files", place, settings, rows, *answers, *more, ending=named.ending)
    return None
