"""Which models suit the data, and which parts a script of them is made of."""

from dataclasses import dataclass, field
from typing import Any

from automl.sources import Source

# What the script that learns must know of the task besides.
VALUES: list[str] = []
POSITIVE: list[str] = []


class NoModelError(Exception):
    """Why no model can be written."""


@dataclass
class Portfolio:
    parts: list[str]
    """Names of files like this one."""
    reads: str
    """The last lines of the script."""
    members: list[str] = field(default_factory=list)
    """Models to blend, the most promising first; none for a network on pictures."""
    settings: dict[str, Any] = field(default_factory=dict)


def choose_portfolio(source: Source, classes: int, packages: list[str], epochs: int) -> Portfolio:
    told: dict[str, Any] = {"VALUES": VALUES, "POSITIVE": POSITIVE}
    core = ["settings", "data", "formats", "scores", "submission"]
    if source.are_pictures and "torch" in packages:
        told["MOST_PASSES"] = epochs or 30
        parts, rows = read_rows(source)
        return Portfolio([*core, *parts, "pictures"], f"learn_pictures(*{rows})", settings=told)
    has_models = "sklearn" in packages
    needs_words = source.kind != "arrays" and not source.are_pictures
    if not has_models and needs_words and not source.columns.keys() & {"number", "name"}:
        raise NoModelError(
            "scikit-learn cannot be imported, and all there is to learn from are words"
        )
    members = choose_members(source, classes, epochs == 0) if has_models else ["boosting", "linear"]
    core += ["models" if has_models else "plain_models", "blend"]
    if source.kind == "table":
        parts, reads = read_table_with(source, packages)
    elif source.are_pictures or source.kind == "arrays":
        parts, rows = read_rows(source)
        reads = f"learn(as_numbers(*{rows}))"
    else:
        parts = ["texts", "files"]
        reads = 'data, cells = read_texts()\n    add_texts("text", cells, data)\n    learn(data)'
    return Portfolio([*core, *parts], reads, members, told)


def read_rows(source: Source) -> tuple[list[str], str]:
    if source.kind == "arrays":
        return ["arrays"], "read_arrays()"
    return ["arrays", "files"], "read_pictures()"


def read_table_with(source: Source, packages: list[str]) -> tuple[list[str], str]:
    has_letters, has_texts = source.columns["letters"] > 0, source.columns["text"] > 0
    has_models, joins = "sklearn" in packages, "JOINED" in source.settings
    used = {
        "dates": joins or bool(source.columns.keys() - {"text"}),
        # Only reading chemical notations distinguishes them from other words.
        "molecules": has_letters and "rdkit" in packages,
        "letters": has_letters and has_models,
        "texts": has_texts and has_models,
    }
    kinds = [kind for kind, is_used in used.items() if is_used]
    makers = ", ".join(f"add_{kind}" for kind in kinds)
    parts = [*kinds, "table", *(["joins"] if joins else [])]
    return parts, f"learn(read_data([{makers}]{', join_tables' if joins else ''}))"


def choose_members(source: Source, classes: int, passes: bool) -> list[str]:
    """Models that take too long are left out later. `passes`: they may see the rows many times."""
    rows, wide, columns = source.rows, source.is_wide, source.columns
    is_text = source.kind == "files" and not source.are_pictures
    words = is_text or columns["text"] + columns["letters"] > 0
    is_only_text = is_text or (columns["text"] > 0 and columns.keys() <= {"text", "letters"})
    few = not words and not wide and classes == 0
    first = "forest" if wide else "boosting"
    if is_only_text and passes:
        first = "linear"
    suits = {
        first: True,
        "boosting": not wide or rows * max(classes, 1) < 20_000,
        "linear": passes or classes == 0,
        "kernel": rows <= (10_000 if classes else 6_000),
        "ratios": words and classes == 2 and passes,
        "forest": rows <= 100_000,
        "powers": few,
        "polynomial": few,
        "process": few and rows <= 1_000,
        "network": not words and 300 <= rows <= 50_000 and passes,
        "neighbours": not words and rows <= 30_000,
        "deep_boosting": not wide and rows <= 20_000,
    }
    return [name for name, suited in suits.items() if suited or name == first]
