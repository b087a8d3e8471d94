"""Synthetic dives: coloured shapes on water, in the files and layout of the competition."""

import colorsys
import json
import os
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import write_table
from mlab_task.sampling import read_sample

DIVES = 80
IMAGES = 320
CATEGORIES = 290
# Number of categories that occur; as in the original, not all do.
KINDS = 24
SIZE = (360, 184)
SHAPES = ("disc", "star", "ring", "worm", "fan", "shell")
SUPERCATEGORIES = ("Anemone", "Crab", "Fish", "Sea star", "Urchin", "Worm")


@dataclass(frozen=True)
class Kind:
    """The appearance of the animals of one category, and its companion."""

    category: int
    shape: str
    hue: float
    size: float
    """Radius in pixels."""
    companion: int
    """Index of the kind that often accompanies this one."""


def make_kinds(random: np.random.Generator) -> list[Kind]:
    """The kinds, the most common first: shape and hue distinguish them."""
    categories = random.choice(np.arange(1, CATEGORIES + 1), KINDS, replace=False)
    looks = [(shape, hue) for shape in SHAPES for hue in (0.0, 0.12, 0.3, 0.85)]
    order = random.permutation(len(looks))
    return [
        Kind(
            int(categories[place]),
            *looks[order[place]],
            float(random.uniform(11, 19)),
            int((place + random.integers(1, KINDS)) % KINDS),
        )
        for place in range(KINDS)
    ]


def make_water(random: np.random.Generator, tint: np.ndarray) -> Image.Image:
    """Blue-green water that is lighter in the middle, with blurred clouds of particles."""
    width, height = SIZE
    across = np.linspace(-1, 1, width)[None, :, None]
    down = np.linspace(-1, 1, height)[:, None, None]
    light = 1.1 - 0.5 * (across**2 + down**2)
    coarse = random.normal(0, 12, (height // 8, width // 8, 3))
    clouds = Image.fromarray(np.clip(coarse + 128, 0, 255).astype(np.uint8)).resize(SIZE)
    grain = np.asarray(clouds, dtype=float) - 128 + random.normal(0, 2, (height, width, 1))
    return Image.fromarray(np.clip(tint * light + grain, 0, 255).astype(np.uint8))


def outline(shape: str, radius: float, random: np.random.Generator) -> list[tuple[float, float]]:
    """Corners of a polygon around (0, 0)."""
    turn = random.uniform(0, 2 * np.pi)
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    if shape == "star":
        angles = angles[::4]
        radii = radius * np.where(np.arange(10) % 2, 0.4, 1.2)
    elif shape == "worm":
        ends = radius * np.abs(np.cos(angles)) ** 0.3 * np.sign(np.cos(angles)) * 2
        points = np.stack([ends, radius * 0.25 * np.sin(angles) + 3 * np.sin(ends / 6)])
        cosine, sine = np.cos(turn), np.sin(turn)
        return [tuple(point) for point in (np.array([[cosine, -sine], [sine, cosine]]) @ points).T]
    elif shape == "fan":
        angles = np.concatenate([[0.0], np.linspace(-0.7, 0.7, 20)])
        radii = radius * np.concatenate([[0.0], np.full(20, 1.6)])
    elif shape == "shell":
        radii = radius * (0.75 + 0.35 * np.abs(np.sin(angles * 1.5)))
    else:
        radii = np.full(len(angles), radius)
    return list(zip(radii * np.cos(angles + turn), radii * np.sin(angles + turn), strict=True))


def draw(
    image: Image.Image, kind: Kind, random: np.random.Generator
) -> tuple[float, float, float, float]:
    """Draws one animal and returns its box: left, top, width, height in pixels."""
    radius = kind.size * random.uniform(0.75, 1.3)
    margin = 2.2 * radius
    x = random.uniform(margin, SIZE[0] - margin)
    y = random.uniform(margin, max(SIZE[1] - margin, margin + 1))
    hue = (kind.hue + random.normal(0, 0.015)) % 1
    colour = colorsys.hsv_to_rgb(hue, random.uniform(0.6, 0.9), random.uniform(0.6, 0.95))
    fill = tuple(int(255 * part) for part in colour)
    points = [(x + across, y + down) for across, down in outline(kind.shape, radius, random)]
    pen = ImageDraw.Draw(image)
    if kind.shape == "ring":
        pen.line([*points, points[0]], fill=fill, width=max(3, int(radius * 0.35)))
    else:
        pen.polygon(points, fill=fill)
    left, top = (min(point[axis] for point in points) for axis in (0, 1))
    right, bottom = (max(point[axis] for point in points) for axis in (0, 1))
    return left, top, right - left, bottom - top


def choose_kinds(kinds: list[Kind], weights: np.ndarray, random: np.random.Generator) -> list[Kind]:
    """One to four kinds: mostly one, often with its companion."""
    chosen = {int(random.choice(KINDS, p=weights))}
    if random.random() < 0.35:
        chosen.add(kinds[min(chosen)].companion)
    while len(chosen) < 4 and random.random() < 0.15:
        chosen.add(int(random.choice(KINDS, p=weights)))
    return [kinds[place] for place in sorted(chosen)]


def make_images(folder: Path, kinds: list[Kind], random: np.random.Generator) -> dict[str, list]:
    """Draws all images, and describes them as in the competition's COCO file."""
    common = 1 / np.arange(1, KINDS + 1) ** 0.7
    images, annotations = [], []
    dive_of = np.sort(random.integers(0, DIVES, IMAGES))
    begin = datetime(2015, 6, 1, 9)
    for dive in range(DIVES):
        # Each dive has its own water and animals.
        tint = np.array([15.0, 70.0, 90.0]) + random.uniform(-12, 25, 3)
        weights = common * random.gamma(0.8, size=KINDS)
        for frame in range(int((dive_of == dive).sum())):
            image = make_water(random, tint)
            number = len(images) + 1
            name = f"{UUID(bytes=random.bytes(16), version=4)}.png"
            for kind in choose_kinds(kinds, weights / weights.sum(), random):
                for _ in range(int(random.integers(1, 4))):
                    box = draw(image, kind, random)
                    annotations.append(
                        {
                            "id": len(annotations) + 1,
                            "image_id": number,
                            "category_id": float(kind.category),
                            "bbox": [round(value, 1) for value in box],
                            "area": round(box[2] * box[3], 1),
                            "segmentation": [],
                            "iscrowd": 0,
                        }
                    )
            image.filter(ImageFilter.GaussianBlur(0.8)).save(folder / name)
            taken = begin + timedelta(days=dive, minutes=7 * frame)
            address = "https://fathomnet.org/static/m3/framegrabs/Made%20up/images"
            url = f"{address}/{dive:04d}/{taken:%H_%M_%S}_00.png"
            images.append(
                {
                    "id": number,
                    "width": SIZE[0],
                    "height": SIZE[1],
                    "file_name": name,
                    "license": 0,
                    "flickr_url": url,
                    "coco_url": url,
                    "date_captured": f"{taken:%Y-%m-%d %H:%M:%S}",
                }
            )
    return {"images": images, "annotations": annotations}


def write_labels(folder: Path, coco: dict[str, list]) -> None:
    """Categories of each image, written as `[1.0, 146.0]`."""
    found: dict[int, set[float]] = {image["id"]: set() for image in coco["images"]}
    for annotation in coco["annotations"]:
        found[annotation["image_id"]].add(annotation["category_id"])
    rows = (
        [image["file_name"].removesuffix(".png"), str(sorted(found[image["id"]]))]
        for image in coco["images"]
    )
    write_table(folder / "train.csv", ["id", "categories"], rows)


def main() -> None:
    sample = read_sample()
    random = np.random.default_rng(sample.seed)
    archive = sample.downloads / "fathomnet-out-of-sample-detection"
    for part in ("multilabel_classification", "object_detection"):
        (archive / part).mkdir(parents=True)
    pictures = sample.downloads / "images"
    pictures.mkdir()

    coco = make_images(pictures, make_kinds(random), random)
    key = [
        [number, f"Animal {number}", SUPERCATEGORIES[number % len(SUPERCATEGORIES)]]
        for number in range(1, CATEGORIES + 1)
    ]
    coco["categories"] = [
        {"id": number, "name": name, "supercategory": above} for number, name, above in key
    ]
    (archive / "object_detection" / "train.json").write_text(json.dumps(coco), encoding="utf-8")
    write_labels(archive / "multilabel_classification", coco)
    write_table(archive / "category_key.csv", ["id", "name", "supercat"], key)


if __name__ == "__main__":
    main()
