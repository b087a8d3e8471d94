"""Draws stand-ins for the competition's images: a complete mirror without any download.

    python -I draw_images.py --downloads DIR --images DIR

Reads the competition's unpacked files below --downloads, and writes one small image
for each labelled one: a coloured shape in each of its boxes, on water that is the same for all
frames of a dive. The figures in task.yaml were measured with these. MLAB_HELPERS must be set.
"""

import argparse
import sys
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

sys.path.insert(0, str(Path(__file__).resolve().parent))

from labelled_images import Record, read_records
from sample import SHAPES, outline

SIZE = (256, 144)
HUES = 12


def draw(record: Record, random: np.random.Generator) -> Image.Image:
    """Water in the tint of the dive, and in each box the shape and the hue of its category."""
    dive = np.random.default_rng(zlib.crc32(record.dive.encode()))
    tint = np.array([15.0, 70.0, 90.0]) + dive.uniform(-12, 40, 3)
    water = tint + random.normal(0, 4, (SIZE[1], SIZE[0], 1))
    image = Image.fromarray(np.clip(water, 0, 255).astype(np.uint8))
    pen = ImageDraw.Draw(image)
    for box in record.boxes:
        look = box.category * 7
        shape = SHAPES[look % len(SHAPES)]
        hue = int(255 * ((look // len(SHAPES) % HUES) / HUES + random.normal(0, 0.02))) % 256
        fill = Image.new("HSV", (1, 1), (hue, 190, 210)).convert("RGB").getpixel((0, 0))
        left, top, width, height = (value * SIZE[axis % 2] for axis, value in enumerate(box.place))
        radius = max(3.0, min(width, height) / 2)
        points = [
            (left + width / 2 + across, top + height / 2 + down)
            for across, down in outline(shape, radius, random)
        ]
        if shape == "ring":
            pen.line([*points, points[0]], fill=fill, width=max(2, int(radius * 0.35)))
        else:
            pen.polygon(points, fill=fill)
    return image


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw stand-ins for the images.")
    parser.add_argument("--downloads", type=Path, required=True)
    parser.add_argument("--images", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.images.mkdir(parents=True, exist_ok=True)
    for number, record in enumerate(read_records(arguments.downloads)):
        image = draw(record, np.random.default_rng(number))
        image.save(arguments.images / record.file, "PNG", compress_level=1)


if __name__ == "__main__":
    main()
