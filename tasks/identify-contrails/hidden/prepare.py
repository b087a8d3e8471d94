"""Contrails: three infrared bands of the labelled frame; Kaggle's validation records are hidden.

The archive unpacks to 450 GB, of which the task needs about 1/25. It is read in place, one
file at a time, and never unpacked: only the archive itself and the prepared data need disk space.
"""

import io
import json
import os
import re
import sys
import zipfile
from pathlib import Path

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).parent))

from run_lengths import encode_runs

from mlab_task.preparing import read_folders, write_table

ARCHIVE = "google-research-identify-contrails-reduce-global-warming.zip"
BANDS = (11, 14, 15)
LABELLED_FRAME = 4
RECORD = re.compile(r"(train|validation)/([0-9]{1,30})/human_pixel_masks\.npy")
MOST_BYTES = 64 * 2**20


class BadArchive(Exception):
    """The archive does not have the contents of Kaggle's; the message says what is wrong."""


class Archive:
    """The records of the two folders that have labels."""

    def __init__(self, opened: zipfile.ZipFile) -> None:
        self._opened = opened
        self.records: dict[str, list[str]] = {"train": [], "validation": []}
        for name in opened.namelist():
            if match := RECORD.fullmatch(name):
                self.records[match[1]].append(match[2])
        for split, records in self.records.items():
            if not records:
                raise BadArchive(f"there are no records in {split}/")
            if len(set(records)) != len(records):
                raise BadArchive(f"{split}/ has a record twice")
            records.sort()

    def bands(self, split: str, record: str) -> np.ndarray:
        """Brightness temperatures of bands 11, 14 and 15 in kelvin, float32, (3, rows, columns).

        A missing value is replaced by the median of its band.
        """
        frames = []
        for band in BANDS:
            name = f"{split}/{record}/band_{band:02}.npy"
            array = self._array(name)
            if array.ndim != 3 or array.dtype != np.float32 or array.shape[2] <= LABELLED_FRAME:
                raise BadArchive(f"{name}: not 32-bit floats of rows, columns and frames")
            frame = array[:, :, LABELLED_FRAME]
            known = np.isfinite(frame)
            if not known.any():
                raise BadArchive(f"{name}: no finite value in the labelled frame")
            frames.append(frame if known.all() else np.where(known, frame, np.median(frame[known])))
        if len({frame.shape for frame in frames}) != 1:
            raise BadArchive(f"{split}/{record}: bands of different sizes")
        return np.stack(frames).astype(np.float32)

    def mask(self, split: str, record: str) -> np.ndarray:
        """What the annotators marked: 1 for a contrail, uint8, (rows, columns)."""
        name = f"{split}/{record}/human_pixel_masks.npy"
        array = self._array(name)
        if array.ndim != 3 or array.shape[2] != 1 or not np.isin(array, (0, 1)).all():
            raise BadArchive(f"{name}: not a mask of zeros and ones")
        return array[:, :, 0].astype(np.uint8)

    def _array(self, name: str) -> np.ndarray:
        try:
            entry = self._opened.getinfo(name)
        except KeyError:
            raise BadArchive(f"there is no {name}") from None
        if entry.file_size > MOST_BYTES:
            raise BadArchive(f"{name}: larger than {MOST_BYTES:,} bytes")
        content = io.BytesIO(self._opened.read(entry))
        try:
            return np.lib.format.read_array(content, allow_pickle=False)
        except ValueError as error:
            raise BadArchive(f"{name}: {error}") from None


def main() -> None:
    folders = read_folders()
    sizes: set[tuple[int, ...]] = set()
    labels = []
    for folder in ("train", "train_masks", "test"):
        (folders.public / folder).mkdir()
    with zipfile.ZipFile(folders.downloads / ARCHIVE) as opened:
        archive = Archive(opened)
        for split, folder in (("train", "train"), ("validation", "test")):
            for record in archive.records[split]:
                bands, mask = archive.bands(split, record), archive.mask(split, record)
                sizes |= {bands.shape[1:], mask.shape}
                np.save(folders.public / folder / f"{record}.npy", bands)
                if split == "train":
                    np.save(folders.public / "train_masks" / f"{record}.npy", mask)
                else:
                    labels.append([record, encode_runs(mask)])
    if len(sizes) != 1:
        raise BadArchive(f"records of different sizes: {sorted(sizes)}")
    height, width = sizes.pop()
    write_table(folders.public / "test.csv", ["record_id"], ([record] for record, _ in labels))
    write_table(folders.private / "labels.csv", ["record_id", "encoded_pixels"], labels)
    (folders.private / "size.json").write_text(json.dumps({"height": height, "width": width}))


if __name__ == "__main__":
    main()
