"""Which models suit the data, and which files like this one a script consists of."""

from automl.answers import NoModelError, Source

MANY_NUMBERS = 16
"""Columns of numbers; they may be a sequence or a picture."""


def choose_parts(source: Source, packages: list[str]) -> tuple[list[str], str]:
    """The names of files like this one that read the data, and the call that does."""
    columns = source.columns + source.beside
    has_letters, has_models = columns["letters"] > 0, "sklearn" in packages
    rows = rows_read(source)
    plain = {"number", "name", "list", "letters"}
    if not (has_models or rows or source.columns.keys() & plain):
        raise NoModelError(
            "scikit-learn cannot be imported, and all there is to learn from are words"
        )
    is_joined = "JOINED" in source.settings
    are_many = source.columns["number"] >= MANY_NUMBERS
    used = {
        "lists": source.columns["list"] > 0 or are_many or rows == "recordings",
        "dates": is_joined or bool(source.columns.keys() - {"text"}),
        "amounts": is_joined or bool(source.columns.keys() - {"text"}),
        # Only reading chemical notations distinguishes them from other words.
        "molecules": has_letters and has_models and "rdkit" in packages,
        "pieces": has_letters and has_models,
        "letters": has_letters and not has_models,
        "texts": columns["text"] > 0 and has_models,
    }
    kinds = [kind for kind, is_used in used.items() if is_used]
    needed = [*["moments"] * used["dates"], *["letters"] * used["pieces"], *kinds]
    passed, more = [f"[{', '.join(f'add_{kind}' for kind in kinds)}]"], []
    if rows:
        files = ["files"] if source.kind == "files" else []
        shapes = ["sequences", "shapes"]
        return [*shapes, *needed, "table", *files, "arrays"], f"read_{rows}({passed[0]})"
    if source.kind == "files":
        passed, more = [*passed, "read_texts"], ["files"]
    elif is_joined:
        passed, more = [*passed, "join_tables"], ["joins"]
    if are_many:
        passed.append("gather=gather")
    shapes = [*["sequences"] * (is_joined or used["lists"]), *["shapes"] * used["lists"]]
    return [*shapes, *needed, "table", *more], f"read_data({', '.join(passed)})"


def rows_read(source: Source) -> str:
    """What the rows are read from, where they are no cells of a table; else empty."""
    if source.kind == "arrays":
        return "arrays"
    return "pictures" if source.are_pictures else "recordings" * source.columns["recording"]


def choose_members(source: Source, classes: int, passes: bool) -> list[str]:
    """Models that take too long are left out later."""
    rows, wide, columns = source.rows, source.is_wide, source.columns
    letters = columns["letters"] + source.beside["letters"] > 0
    words = letters or columns["text"] + source.beside["text"] > 0
    few = not words and not wide and classes == 0
    first = "forest" if wide else "boosting"
    if columns["text"] > 0 and passes:
        # Most of what there is to know is in the words, and it is fast.
        first = "linear"
    suits = {
        first: True,
        "boosting": not wide or rows * max(classes, 1) < 20_000,
        "large_boosting": not wide and rows >= 5_000 and rows * max(classes, 1) <= 200_000,
        "linear": passes or classes == 0,
        "pieces": letters and (passes or classes == 0),
        "kernel": rows <= (10_000 if classes else 6_000),
        "ratios": words and classes == 2 and passes,
        "forest": rows <= 100_000,
        "powers": few,
        "polynomial": few,
        "network": not words and 300 <= rows <= 50_000 and passes,
        "deep_boosting": not wide and rows <= 20_000,
    }
    chosen = [name for name, suited in suits.items() if suited or name == first]
    # With hundreds of columns, boosting may take all of the time.
    fast = (first, "kernel", "linear")
    return sorted(chosen, key=lambda name: wide and name not in fast)
