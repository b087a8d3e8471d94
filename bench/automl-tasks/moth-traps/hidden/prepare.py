"""Draws moths on the white sheet of a light trap: five species, any place, any turn."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np
from PIL import Image

from mlab_task.preparing import read_folders, write_hidden_test, write_table

SIZE, TRAIN, TEST = 24, 1000, 800
SPECIES = ["brindle", "carpet", "footman", "pug", "wainscot"]
# Half length and half width of the wings, colour, contrast of the bands, bands per length.
LOOKS = {
    "brindle": (6.2, 4.6, (126, 100, 74), 0.35, 1.1),
    "carpet": (5.6, 5.0, (120, 112, 96), 0.55, 0.7),
    "footman": (6.6, 2.5, (148, 136, 112), 0.05, 0.5),
    "pug": (4.3, 3.6, (118, 104, 88), 0.30, 1.3),
    "wainscot": (6.4, 3.6, (158, 134, 96), 0.15, 0.6),
}
ROWS, COLUMNS = np.mgrid[:SIZE, :SIZE]


def picture(species: str, rng: np.random.Generator) -> Image.Image:
    length, width, colour, contrast, bands = LOOKS[species]
    length, width = np.array([length, width]) * rng.normal(1, 0.09, 2)
    angle, light = rng.uniform(0, 2 * np.pi), rng.normal(1, 0.10)
    row, column = rng.uniform(7, SIZE - 8, 2)
    along = (ROWS - row) * np.sin(angle) + (COLUMNS - column) * np.cos(angle)
    across = (ROWS - row) * np.cos(angle) - (COLUMNS - column) * np.sin(angle)
    inside = 1 / (1 + np.exp(9 * (np.hypot(along / length, across / width) - 1)))
    stripes = 1 - contrast * (0.5 + 0.5 * np.sin(bands * along + rng.uniform(0, 6.3)))
    wings = (np.array(colour) + rng.normal(0, 7, 3)) * stripes[..., None]
    sheet = np.array([196, 194, 184]) + rng.normal(0, 3) * (COLUMNS - SIZE / 2)[..., None] / 3
    pixels = light * (sheet + inside[..., None] * (wings - sheet))
    for _ in range(rng.poisson(2)):  # gnats
        pixels[tuple(rng.integers(0, SIZE, 2))] = 60
    pixels += rng.normal(0, 9, pixels.shape)
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def main() -> None:
    folders = read_folders()
    rng = np.random.default_rng(4417)
    (folders.public / "images").mkdir()
    rows = []
    for number in range(TRAIN + TEST):
        species = SPECIES[rng.choice(5, p=[0.2, 0.22, 0.2, 0.2, 0.18])]
        name = f"sheet_{number:04d}.png"
        # Without compression, so that the sizes of the files say nothing.
        picture(species, rng).save(folders.public / "images" / name, compress_level=0)
        rows.append([name, species])
    write_table(folders.public / "train.csv", ["image", "species"], rows[:TRAIN])
    write_hidden_test(folders, ["image", "species"], rows[TRAIN:], "image", "species")


if __name__ == "__main__":
    main()
