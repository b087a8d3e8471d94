"""What the competition's files say about each labelled image."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

ARCHIVE = "fathomnet-out-of-sample-detection"


@dataclass(frozen=True)
class Box:
    """Where one animal is: a category, and left, top, width, height as fractions of the image."""

    category: int
    place: tuple[float, float, float, float]


@dataclass(frozen=True)
class Record:
    """One labelled image."""

    id: str
    file: str
    url: str
    dive: str
    """Vehicle and number of the dive on which the frame was recorded: the folder in its URL."""
    categories: tuple[int, ...]
    boxes: tuple[Box, ...]


def read_records(downloads: Path) -> list[Record]:
    """The images of train.json that train.csv has labels for, sorted by id."""
    folder = downloads / ARCHIVE
    labels = _read_labels(folder / "multilabel_classification" / "train.csv")
    coco = json.loads((folder / "object_detection" / "train.json").read_text(encoding="utf-8"))
    sizes = {image["id"]: (image["width"], image["height"]) for image in coco["images"]}
    boxes: dict[int, list[Box]] = {number: [] for number in sizes}
    for annotation in coco["annotations"]:
        number = annotation["image_id"]
        left, top, width, height = annotation["bbox"]
        across, down = sizes[number]
        place = (left / across, top / down, width / across, height / down)
        boxes[number].append(Box(int(annotation["category_id"]), place))
    records = []
    for image in coco["images"]:
        name = Path(image["file_name"]).stem
        if name not in labels:
            continue
        url = image["coco_url"]
        dive = unquote(urlsplit(url).path).rpartition("/")[0]
        records.append(
            Record(name, image["file_name"], url, dive, labels[name], tuple(boxes[image["id"]]))
        )
    return sorted(records, key=lambda record: record.id)


def read_category_key(downloads: Path) -> list[tuple[int, str, str]]:
    """Number, name and supercategory of each category, by number."""
    with (downloads / ARCHIVE / "category_key.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    return sorted((int(float(row["id"])), row["name"], row["supercat"]) for row in rows)


def _read_labels(file: Path) -> dict[str, tuple[int, ...]]:
    """Categories by image id; the file writes them as `[1.0, 146.0]`."""
    with file.open(encoding="utf-8-sig", newline="") as opened:
        return {
            row["id"]: tuple(sorted({int(float(label)) for label in json.loads(row["categories"])}))
            for row in csv.DictReader(opened)
        }
