"""The format check that the grader and Validate Submission share."""

import os
import stat
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO

from mlab_task.csv_check import Table, check_csv, read_ids
from mlab_task.declaration import CsvFile, Declaration, DeclaredFile, PythonFile
from mlab_task.problems import Problem, Rejected
from mlab_task.python_check import check_python

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Submission:
    """A submission whose files match the task's declaration."""

    name: str
    folder: Path
    tables: dict[str, Table]
    declared: tuple[str, ...]

    def read(self, path: str) -> bytes:
        """The content of a declared file, up to the size limit of a submission.

        :raises Rejected: missing_file, not_a_file or unreadable
        :raises ValueError: if the task does not declare it, a fault of the grader
        """
        if str(PurePosixPath(path)) not in self.declared:
            known = ", ".join(self.declared)
            message = f"task.yaml declares no file {path} of a submission, but: {known}"
            raise ValueError(message)
        with open_untrusted(self.folder, path) as file:
            return file.read()

    def array(self, path: str, shape: Sequence[int]) -> "np.ndarray":
        """The numbers of a declared .npy file; they are finite. Needs numpy.

        :param shape: what the array must have; nothing is allocated for another one
        :raises Rejected: unreadable, wrong_shape, not_a_number or not_finite; and as `read`
        """
        from mlab_task.array_check import checked_array

        return checked_array(self.read(path), path, tuple(shape))

    def json_lines(
        self, path: str, id_name: str, ids: Collection[str]
    ) -> dict[str, dict[str, Any]]:
        """The objects of a declared file of lines of JSON, by id: one for each that is asked for.

        :param id_name: what the ids are called in each object
        :raises Rejected: unreadable, wrong_columns, duplicate_ids, extra_ids or missing_ids; and as
            `read`
        """
        from mlab_task.json_lines import checked_lines

        return checked_lines(self.read(path), path, id_name, ids)

    @property
    def table(self) -> Table:
        """The table of a task that asks for exactly one."""
        if not self.tables:
            raise ValueError("submission.table: task.yaml declares no file of the format csv")
        if len(self.tables) > 1:
            known = ", ".join(self.tables)
            raise ValueError(f"submission.table: there are several: submission.tables has {known}")
        (table,) = self.tables.values()
        return table


class FormatCheck:
    """Checks submissions against a declaration and public data, which are read only once."""

    def __init__(self, declaration: Declaration, public: Path) -> None:
        self._declaration = declaration
        self._ids = {
            file.path: read_ids(public, file)
            for file in declaration.files
            if isinstance(file, CsvFile)
        }

    def check(self, folder: Path) -> Submission | list[Problem]:
        """The submission in a folder, or everything that is wrong with it."""
        problems: list[Problem] = []
        tables: dict[str, Table] = {}
        bytes_left = self._declaration.max_bytes
        for declared in self._declaration.files:
            try:
                with open_untrusted(folder, declared.path) as file:
                    bytes_left -= os.fstat(file.fileno()).st_size
                    if bytes_left < 0:
                        most = self._declaration.max_bytes // 2**20
                        message = f"{declared.path}: a submission may weigh {most} MiB at most"
                        raise Rejected("too_large", message)
                    outcome = self._check_file(file, declared)
            except Rejected as rejection:
                problems.append(rejection.problem)
                continue
            if isinstance(outcome, Table):
                tables[declared.path] = outcome
            else:
                problems += outcome
        declared = tuple(file.path for file in self._declaration.files)
        return problems or Submission(folder.name, folder, tables, declared)

    def _check_file(self, file: BinaryIO, declared: DeclaredFile) -> Table | list[Problem]:
        if isinstance(declared, CsvFile):
            return check_csv(file, declared, self._ids[declared.path])
        if isinstance(declared, PythonFile):
            return check_python(file, declared)
        if os.fstat(file.fileno()).st_size == 0:
            return [Problem("unreadable", f"{declared.path}: the file is empty")]
        return []


def open_untrusted(folder: Path, path: str) -> BinaryIO:
    """Opens a regular file below a folder without following a link or waiting for a pipe.

    :raises Rejected: missing_file, not_a_file or unreadable
    """
    parts = PurePosixPath(path).parts
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            inner = _open_at(place, part, os.O_RDONLY | os.O_DIRECTORY, path)
            os.close(place)
            place = inner
        file = _open_at(place, parts[-1], os.O_RDONLY | os.O_NONBLOCK, path)
    finally:
        os.close(place)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise Rejected("not_a_file", f"{path}: not a regular file")
    return os.fdopen(file, "rb")


def _open_at(place: int, name: str, flags: int, path: str) -> int:
    try:
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
    except FileNotFoundError:
        raise Rejected("missing_file", f"{path}: there is no such file") from None
    except PermissionError:
        raise Rejected("unreadable", f"{path}: no permission to read it") from None
    except OSError:
        # ELOOP for a link, ENOTDIR below a file, ENXIO for a socket.
        raise Rejected("not_a_file", f"{path}: not a regular file, or reached by a link") from None
