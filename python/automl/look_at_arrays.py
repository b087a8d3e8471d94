"""Prints as one line of JSON which arrays lie below data/, and which packages there are."""

import ast
import io
import json
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGES = (
    *("numpy", "pandas", "scipy", "sklearn", "torch", "torchvision", "torch_geometric"),
    *("tensorflow", "jax", "flax", "optax", "lightgbm", "xgboost", "catboost", "transformers"),
    *("rdkit", "numba"),
)
MOST_ARRAYS = 60
# Of larger ones the values are not looked at.
MOST_VALUES = 50_000_000


def read_header(file: Any) -> tuple[list[int], str]:
    """Shape and type of an array, from the first bytes of its file: nothing is loaded."""
    start = file.read(8)
    if start[:6] != b"\x93NUMPY":
        raise ValueError("no array of numpy")
    size = int.from_bytes(file.read(2 if start[6] == 1 else 4), "little")
    header = ast.literal_eval(file.read(size).decode("latin1"))
    return list(header["shape"]), header["descr"]


def describe(path: str, key: str | None, file: Any, load: Any) -> dict[str, Any]:
    shape, code = read_header(file)
    found = {
        "path": path,
        "key": key,
        "shape": shape,
        "dtype": str(code),
        "least": None,
        "most": None,
    }
    count = 1
    for length in shape:
        count *= length
    try:
        import numpy

        kind = numpy.dtype(code)
        found["dtype"] = kind.name
        if kind.kind in "iu" and 0 < count <= MOST_VALUES:
            values = load()
            found["least"], found["most"] = int(values.min()), int(values.max())
    except (ImportError, TypeError, ValueError):
        pass
    return found


def look(path: Path) -> list[dict[str, Any]]:
    def load() -> Any:
        import numpy

        return numpy.load(path, mmap_mode="r", allow_pickle=False)

    name = path.as_posix()
    if path.suffix == ".npy":
        with path.open("rb") as file:
            return [describe(name, None, file, load)]
    found = []
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            if not member.endswith(".npy"):
                continue
            with archive.open(member) as file:
                key = member.removesuffix(".npy")
                # The members of an archive are small, or not worth their unpacking.
                small = archive.getinfo(member).file_size < MOST_VALUES
                unpack = (lambda key=key: load()[key]) if small else (lambda: None)
                header = io.BytesIO(file.read(4096))
                try:
                    found.append(describe(name, key, header, unpack))
                except (AttributeError, ValueError):
                    continue
    return found


def main() -> None:
    paths = sorted(path for end in ("npy", "npz") for path in Path("data").rglob(f"*.{end}"))
    arrays: list[dict[str, Any]] = []
    for path in paths[:MOST_ARRAYS]:
        try:
            arrays += look(path)
        except (OSError, ValueError, SyntaxError, KeyError, zipfile.BadZipFile):
            continue
    packages = [name for name in PACKAGES if find_spec(name) is not None]
    sys.stdout.write(
        f"ARRAYS {json.dumps({'arrays': arrays[:MOST_ARRAYS], 'packages': packages})}\n"
    )


if __name__ == "__main__":
    main()
