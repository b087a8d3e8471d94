"""Splits the reviews into 1,500 with stars and the others without; the order is that of a hash of the texts."""

import hashlib
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import read_folders, write_table

TRAIN = 1500

folders = read_folders()
lines = Path(__file__).with_name("reviews.jsonl").read_text(encoding="utf-8").splitlines()
reviews = sorted(map(json.loads, lines), key=lambda review: hashlib.sha256(review["text"].encode()).hexdigest())
for number, review in enumerate(reviews):
    review["id"] = f"r{number:05d}"


def write(name, reviews, keys):
    with open(folders.public / name, "w", encoding="utf-8") as file:
        for review in reviews:
            file.write(json.dumps({key: review[key] for key in keys}, ensure_ascii=False) + "\n")


train, test = reviews[:TRAIN], reviews[TRAIN:]
write("train.jsonl", train, ["id", "hut", "month", "text", "stars"])
write("test.jsonl", test, ["id", "hut", "month", "text"])
write_table(folders.public / "test_ids.csv", ["id"], [[review["id"]] for review in test])
write_table(folders.private / "labels.csv", ["id", "stars"], [[review["id"], review["stars"]] for review in test])
