"""Film reviews: the official split, without file names (which contain the star ratings).

Rows are sorted by a hash of their text, so neither order nor `idx` reveals the label.
"""

import hashlib
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import Folders, read_folders, write_hidden_test, write_table

LABELS = {"neg": 0, "pos": 1}
MODEL_FILES = (
    "config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
)


def read_reviews(part: Path) -> list[tuple[str, int]]:
    """Text and label of all reviews below `part/neg` and `part/pos`, in an order that hides both.

    Equal texts would be adjacent in the order in which they were read, perhaps the negative
    first: a hash of the file name decides between them.
    """

    def digest(text: str) -> bytes:
        return hashlib.sha256(text.encode()).digest()

    reviews = []
    for folder, label in LABELS.items():
        for file in (part / folder).iterdir():
            if file.suffix != ".txt":
                continue
            text = file.read_text(encoding="utf-8").strip()
            reviews.append((digest(text), digest(f"{folder}/{file.name}"), text, label))
    return [(text, label) for _, _, text, label in sorted(reviews)]


def lay_out_model(folders: Folders) -> None:
    """Puts DistilBERT into `public/distilbert` if all of its files were downloaded."""
    files = {name: folders.downloads / f"distilbert-{name}" for name in MODEL_FILES}
    if not all(file.is_file() for file in files.values()):
        return
    (folders.public / "distilbert").mkdir()
    for name, file in files.items():
        shutil.copyfile(file, folders.public / "distilbert" / name)


def main() -> None:
    folders = read_folders()
    reviews = folders.downloads / "aclImdb_v1" / "aclImdb"
    write_table(folders.public / "train.csv", ["text", "label"], read_reviews(reviews / "train"))
    test = [(number, *review) for number, review in enumerate(read_reviews(reviews / "test"))]
    write_hidden_test(folders, ["idx", "text", "label"], test, "idx", "label")
    lay_out_model(folders)


if __name__ == "__main__":
    main()
