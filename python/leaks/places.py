"""Where an agent can look: the data, the starter, the packages, and the files themselves."""

import hashlib
import importlib
import inspect
import io
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import ModuleType

from python_values import walk
from readers import Unread, is_data_name, printed_in, read_file
from tables import Table, make_table

MOST_FILES = 20_000
# For a package's data files: a larger one is not a set of examples.
LARGEST_OF_PACKAGES = 48 * 2**20


def files_below(root: Path, skip: Iterable[Path] = ()) -> list[Path]:
    """All plain files, those of each folder in the order in which the system lists them."""
    left_out = {str(path) for path in skip}
    found: list[Path] = []
    for parent, folders, names in os.walk(root):
        folders[:] = [
            name
            for name in folders
            if os.path.join(parent, name) not in left_out and name != "__pycache__"
        ]
        found += [Path(parent, name) for name in names if Path(parent, name).is_file()]
        if len(found) > MOST_FILES:
            break
    return found


class Reader:
    """Reads files and remembers which it could not read."""

    def __init__(self) -> None:
        self.unread: list[str] = []
        self.files = 0

    def tables_of(self, path: Path, where: str, tables_only: bool = False) -> list[Table]:
        """`tables_only` leaves out values that are hidden in other text."""
        self.files += 1
        found: list[Table] = []
        try:
            for table in read_file(path, where, tables_only):
                if table.rows > 4:
                    found.append(table)
        except Exception as error:
            # Packages contain broken files for their own tests.
            if not tables_only:
                said = str(error) if isinstance(error, Unread) else f"{where}: {error!r}"
                self.unread.append(" ".join(said.split())[:200])
        return found


def package_files(site_packages: Path) -> list[Path]:
    """Files of packages that may contain data. The largest come last."""
    found = [
        path
        for path in files_below(site_packages)
        if is_data_name(path.name) and not is_beside_data(path.relative_to(site_packages))
    ]
    sized = [(path.stat().st_size, path) for path in found]
    return [path for size, path in sorted(sized) if 200 < size <= LARGEST_OF_PACKAGES]


def is_beside_data(path: Path) -> bool:
    """Descriptions of a package, and numbers that its own tests compare with."""
    folders = path.parts[:-1]
    return any(name.endswith(".dist-info") for name in folders) or (
        "tests" in folders and "datasets" not in folders
    )


def files_table(root: Path, where: str, files: list[Path]) -> Iterator[Table]:
    """Metadata of files: of all together, and of each folder with enough files."""
    groups = {where: files}
    for path in files:
        folder = os.path.relpath(path.parent, root)
        groups.setdefault(f"{where}/{folder}", []).append(path)
    for name, members in groups.items():
        if len(members) < 8 or (name != where and len(members) == len(files)):
            continue
        yield one_table(root, f"{name} (the files themselves)", members)


def one_table(root: Path, where: str, files: list[Path]) -> Table:
    listed = {path: place for place, path in enumerate(files)}
    files = sorted(files)
    facts = [path.stat() for path in files]
    columns: dict[str, list[object]] = {
        "path": [os.path.relpath(path, root) for path in files],
        "name": [path.name for path in files],
        "name without ending": [path.name.split(".")[0] for path in files],
        "ending": [path.suffix for path in files],
        "folder": [path.parent.name for path in files],
        "folder above": [path.parent.parent.name for path in files],
        "size": [fact.st_size for fact in facts],
        # As texts: as one number, the seconds would drown the smaller parts.
        "time of change": [str(fact.st_mtime_ns // 10**6 % 10**11) for fact in facts],
        "nanoseconds of change": [fact.st_mtime_ns % 10**9 for fact in facts],
        "permissions": [fact.st_mode for fact in facts],
        "place in the listing": [listed[path] for path in files],
        "attributes": [attributes_of(path) for path in files],
        "text inside": [
            text_inside(path, fact.st_size) for path, fact in zip(files, facts, strict=False)
        ],
    }
    for place, (_, column) in enumerate(sorted(words_of(columns["text inside"]).items())):
        columns[f"word {place + 1} inside"] = column
    return make_table(where, columns)


def words_of(texts: list[object]) -> dict[int, list[object]]:
    split = [str(text).replace("=", " ").replace(":", " ").split() for text in texts]
    most = min(40, max(map(len, split), default=0))
    return {
        place: [words[place] if place < len(words) else "" for words in split]
        for place in range(most)
    }


def attributes_of(path: Path) -> str:
    try:
        names = os.listxattr(path)
        return " ".join(f"{name}={os.getxattr(path, name)!r}" for name in names)
    except OSError:
        return ""


def text_inside(path: Path, size: int) -> str:
    """The text in a small file, and a picture's metadata."""
    if size > 2**22:
        return ""
    with path.open("rb") as opened:
        head = opened.read(2**16)
    if head[:4] in (b"\x89PNG", b"\xff\xd8\xff\xe0", b"\xff\xd8\xff\xe1", b"II*\0", b"MM\0*"):
        return picture_text(path) or printed_in(head)
    return printed_in(head) if len(head) < 2**15 else ""


def picture_text(path: Path) -> str:
    try:
        from PIL import Image

        with Image.open(path) as image:
            image.load()
            said = {**image.info, **dict(image.getexif())}
    except Exception:
        return ""
    return " ".join(f"{name}={value}" for name, value in said.items() if len(str(value)) < 200)


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# Data sets that packages give by functions.

NAMES = ("datasets", "data", "sampledata")
SECONDS = 5


def data_modules(site_packages: Path) -> list[str]:
    """Modules that provide data sets: those with data beside their code."""
    found = []
    for name in NAMES:
        for folder in site_packages.glob(f"*/{name}"):
            if any(is_data_name(path.name) for path in files_below(folder)[:2_000]):
                found.append(f"{folder.parent.name}.{name}")
    return sorted(found)


class TooSlow(Exception):
    pass


def loaded(site_packages: Path) -> Iterator[Table]:
    """The results of the loaders in the environment's packages."""
    for name in data_modules(site_packages):
        module = quietly(lambda name=name: importlib.import_module(name))
        if not isinstance(module, ModuleType):
            continue
        for title, function in loaders_of(module):
            value = quietly(function)
            if value is not None:
                try:
                    yield from walk_bunch(value, f"{name}.{title}()")
                except Exception:
                    continue


def loaders_of(module: ModuleType) -> Iterator[tuple[str, object]]:
    for title in dir(module):
        value = getattr(module, title, None)
        if isinstance(value, ModuleType):
            for inner in ("load_pandas", "load"):
                if callable(getattr(value, inner, None)):
                    yield f"{title}.{inner}", getattr(value, inner)
                    break
        elif callable(value) and title.startswith("load") and needs_nothing(value):
            yield title, value


def needs_nothing(function: object) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return all(
        parameter.default is not parameter.empty or parameter.kind in (2, 4)
        for parameter in parameters
    )


def walk_bunch(value: object, where: str) -> Iterator[Table]:
    """Examples with their labels as one table, whatever the loader calls them."""
    data, target = getattr(value, "data", None), getattr(value, "target", None)
    frame = getattr(data, "shape", None) is not None and len(getattr(data, "shape", ())) == 2
    if frame and getattr(target, "shape", (None,))[0] == data.shape[0]:
        rows = data.tolist() if hasattr(data, "tolist") else data.values.tolist()
        labels = target.tolist() if hasattr(target, "tolist") else list(target)
        columns = {
            f"column {place}": list(column) for place, column in enumerate(zip(*rows, strict=False))
        }
        first = labels[0]
        if isinstance(first, list):
            columns |= {
                f"target {place}": list(each)
                for place, each in enumerate(zip(*labels, strict=False))
            }
        else:
            columns["target"] = labels
        yield make_table(where, columns)
        return
    yield from walk(value if not hasattr(value, "keys") else dict(value), where)


def quietly(function: object) -> object:
    def give_up(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(SECONDS)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return function()
    except (Exception, TooSlow, SystemExit):
        return None
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def site_packages() -> Path:
    return Path(next(path for path in sys.path if path.endswith("site-packages")))
