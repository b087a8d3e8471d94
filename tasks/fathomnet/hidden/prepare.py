"""Underwater images at 256 x 256 with their categories; whole dives are hidden."""

import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parent))

from dives import shuffled, split
from labelled_images import Record, read_category_key, read_records

from mlab_task.preparing import Folders, read_folders, write_hidden_test, write_table

SIDE = 256
# Maximum number of pixels; the images of the competition have 2 million.
LARGEST = 50_000_000
# Up to this share of the images may be missing at the source, as in task.yaml.
MISSING_MOST = 0.02
# With fewer test images a score is mostly luck.
FEWEST_TEST = 50


def read_image(path: Path) -> np.ndarray:
    """An image resized to SIDE x SIDE. Bytes, shape (SIDE, SIDE, 3).

    :raises OSError: it can't be read, or is far larger than it should be
    """
    try:
        with Image.open(path) as image:
            if image.width * image.height > LARGEST:
                raise OSError(f"it has {image.width} x {image.height} pixels")
            small = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    except (SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise OSError(str(error)) from error
    return np.asarray(small, dtype=np.uint8)


def read_present(records: Sequence[Record], folder: Path, store: Path) -> list[Record]:
    """Resizes each available image into `store`, at the position of its record."""
    shape = (len(records), SIDE, SIDE, 3)
    images = np.lib.format.open_memmap(store, mode="w+", dtype=np.uint8, shape=shape)
    present, unreadable = [], []
    for place, record in enumerate(records):
        path = folder / record.file
        if not path.exists():
            continue
        try:
            images[place] = read_image(path)
        except OSError as error:
            unreadable.append(f"{record.file} ({error})")
        else:
            present.append(record)
    if len(unreadable) > MISSING_MOST * len(records):
        shown = "; ".join(unreadable[:3])
        sys.exit(f"{len(unreadable)} images can't be read: {shown}. Delete them to get them anew.")
    if unreadable:
        print(f"note: left out, since they can't be read: {'; '.join(unreadable[:3])}")
    return present


def write_images(
    file: Path, records: Sequence[Record], places: dict[str, int], store: Path
) -> None:
    """The images of these records in their order. Bytes, shape (images, SIDE, SIDE, 3)."""
    images = np.load(store, mmap_mode="r")
    shape = (len(records), SIDE, SIDE, 3)
    written = np.lib.format.open_memmap(file, mode="w+", dtype=np.uint8, shape=shape)
    for row, record in enumerate(records):
        written[row] = images[places[record.id]]
    written.flush()


def listed(categories: Sequence[int]) -> str:
    return " ".join(map(str, categories))


def write_train(folders: Folders, train: Sequence[Record]) -> None:
    """Labels, renumbered dives, and boxes."""
    dives = sorted({record.dive for record in train}, key=shuffled)
    numbers = {dive: number for number, dive in enumerate(dives)}
    names = [f"train_{row:05d}" for row in range(len(train))]
    write_table(
        folders.public / "train.csv",
        ["id", "dive", "categories"],
        (
            [name, numbers[record.dive], listed(record.categories)]
            for name, record in zip(names, train, strict=True)
        ),
    )
    write_table(
        folders.public / "train_boxes.csv",
        ["id", "category", "left", "top", "width", "height"],
        (
            [name, box.category, *(f"{value:.4f}" for value in box.place)]
            for name, record in zip(names, train, strict=True)
            for box in record.boxes
        ),
    )


def main() -> None:
    warnings.simplefilter("ignore", Image.DecompressionBombWarning)
    folders = read_folders()
    records = read_records(folders.downloads)
    # The current directory is empty and deleted afterwards.
    store = Path("all_images.npy")
    present = read_present(records, folders.downloads / "images", store)
    if len({record.dive for record in present}) < 2:
        sys.exit(f"{len(present)} of {len(records)} images are there: at least 2 dives are needed")
    train, test = split(records, present, MISSING_MOST)
    if len(present) < len(records):
        print(f"note: {len(present)} of {len(records)} images are there; only these are used")
    if len(test) < FEWEST_TEST:
        print(f"note: {len(test)} test image(s) are too few: scores on this data say nothing")
    write_table(
        folders.public / "category_key.csv",
        ["id", "name", "supercategory"],
        read_category_key(folders.downloads),
    )
    places = {record.id: place for place, record in enumerate(records)}
    write_images(folders.public / "train_images.npy", train, places, store)
    write_images(folders.public / "test_images.npy", test, places, store)
    write_train(folders, train)
    rows = [[f"test_{row:05d}", listed(record.categories)] for row, record in enumerate(test)]
    write_hidden_test(folders, ["id", "categories"], rows, "id", "categories")


if __name__ == "__main__":
    main()
