"""Reads a private file as tables, and says what of it is not searched."""

from pathlib import Path

from places import Reader
from readers import read_delimited
from tables import Table, has_decimals

# Nested data can have a table for each of its lists.
MOST_TABLES = 20
NOTHING_TO_COMPARE = (
    "no column of it belongs to ids of the submission, "
    "or has values that repeat and 20 rows or more"
)


def read_private(reader: Reader, path: Path, where: str) -> tuple[list[Table], str]:
    """Tables with all of its values; or with some or none, and why."""
    if path.suffix == ".csv":
        return list(read_delimited(path.read_text("utf-8-sig"), where))[:1], ""
    known = len(reader.unread)
    found = [table for table in reader.tables_of(path, where) if "(" not in table.where]
    unread = [said.removeprefix(f"{where}: ") for said in reader.unread[known:]]
    del reader.unread[known:]
    if unread:
        return found, unread[0]
    if not found:
        return [], "no table was found in it"
    by_size = sorted(found, key=lambda table: -table.rows)
    largest, rest = by_size[:MOST_TABLES], by_size[MOST_TABLES:]
    # The lists of a record, say, are also in the table with a row per element.
    if values_of(rest) <= values_of(largest):
        return largest, ""
    return largest, f"of its {len(found)} tables, only the largest {len(largest)} are searched"


def values_of(tables: list[Table]) -> set[str]:
    return {value for table in tables for column in table.columns.values() for value in column}


def public_id(private: list[Table], public: list[Table]) -> str | None:
    """
    The column that tells the records of a private file apart, and those of a public table.

    Where there is a row for each element of their lists, it repeats, and would look like a label.
    """
    for table in private:
        for name, values in table.columns.items():
            if len(set(values)) < len(values) or has_decimals(values):
                continue
            for shown in public:
                known = set(shown.columns.get(name, []))
                if len(known) == shown.rows and known.issuperset(values):
                    return name
    return None
