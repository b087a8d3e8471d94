"""The rows to predict, and the other tables as they are to be read for them."""

from dataclasses import replace

from automl.answers import ID, NAMES, TEST
from automl.formats import Columns, read_table, with_rows
from automl.look import Table


def named_by_file(table: Table, listed: Table) -> Table:
    """What the files of a folder are called may be what a column of the rows to predict says."""
    if not table.file_column:
        return table
    cells = {name: cells for name, cells in table.cells.items() if name != table.file_column}
    files = set(table.cells[table.file_column])
    for name, told in ((name, set(cells)) for name, cells in listed.cells.items()):
        if name not in cells and len(told) > 2 and len(files & told) >= 0.9 * len(told):
            cells[name] = table.cells[table.file_column]
            return replace(table, cells=cells, file_column=name)
    return replace(table, cells=cells, file_column="")


def ways_to_read(listed: Table, tables: list[Table]) -> list[tuple[Table, list[Table]]]:
    """
    The rows to predict and the other tables. If the table of ids has nothing else, another table
    may have the rows of these ids: either only those, or also rows to learn from.
    """
    tables = [each for each in tables if each.path != listed.path]
    plain = (without_targets(listed), tables)
    if has_more(listed):
        return [plain]
    ids = read_table(TEST)[ID]
    known = set(ids)
    whole, parts = [], []
    single = [each for each in tables if not each.path.is_dir() and has_more(each)]
    for table in sorted(single, key=lambda each: -each.rows):
        cells = read_table(table.path.as_posix()) if ID in table.cells else {ID: []}
        asked = [each in known for each in cells[ID]]
        mine = part_of(table, cells, asked)
        if sorted(mine.cells[ID]) != sorted(ids):
            continue
        others = [each for each in tables if each is not table]
        if all(asked):
            whole.append((without_targets(mine), others))
        else:
            rest = part_of(table, cells, [not each for each in asked])
            parts.append((without_gaps(without_targets(mine)), [rest, *others]))
    return [*whole, plain, *parts]


def part_of(table: Table, cells: Columns, kept: list[bool]) -> Table:
    return replace(table, rows=sum(kept), cells=with_rows(cells, kept))


def has_more(table: Table) -> bool:
    """What is to be predicted may be there, empty or as a placeholder."""
    return not table.cells.keys() <= {ID, *NAMES}


def without_targets(table: Table) -> Table:
    return replace(table, cells={k: cells for k, cells in table.cells.items() if k not in NAMES})


def without_gaps(table: Table) -> Table:
    """Without columns that tell nothing, which the targets may be under another name."""
    return replace(table, cells={k: cells for k, cells in table.cells.items() if any(cells)})
