"""Synthetic satellite records in Kaggle's format: clouds, cirrus, and in half of them contrails.

They are smaller than the real ones, 128x128 pixels. As in those, thin ice clouds are colder than
the ground below and warmer in band 14 than in band 15; contrails are such clouds, thin, straight.
"""

import io
import os
import sys
import zipfile

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.sampling import read_sample

ARCHIVE = "google-research-identify-contrails-reduce-global-warming.zip"
SIDE = 128
FRAMES = 8
LABELLED_FRAME = 4
TRAIN_RECORDS = 48
VALIDATION_RECORDS = 40
CONTRAIL_SHARE = 0.55
SENSOR_NOISE = 0.12
# Minimum thickness of the ice of an annotated contrail, where 1 is a cirrus cloud.
VISIBLE = 0.16
TIME = (2020, 1, 1, 0, 0, 0)


def smooth_noise(random: np.random.Generator, slope: float, stretch: float = 1.0) -> np.ndarray:
    """A random field with mean 0 and deviation 1, (SIDE, SIDE); a larger slope is smoother.

    :param stretch: how many times longer than wide its features are
    """
    vertical, horizontal = np.meshgrid(np.fft.fftfreq(SIDE), np.fft.fftfreq(SIDE), indexing="ij")
    angle = random.uniform(0, np.pi)
    along = np.cos(angle) * vertical + np.sin(angle) * horizontal
    across = np.cos(angle) * horizontal - np.sin(angle) * vertical
    frequency = np.hypot(along * stretch, across)
    frequency[0, 0] = np.inf
    waves = np.fft.fft2(random.normal(size=(SIDE, SIDE))) * frequency ** (-slope)
    field = np.fft.ifft2(waves).real
    return (field - field.mean()) / field.std()


def draw_contrail(random: np.random.Generator) -> np.ndarray:
    """Ice of one contrail, (SIDE, SIDE): nearly straight, of uneven thickness, with soft ends."""
    rows, columns = np.mgrid[0:SIDE, 0:SIDE]
    row, column = random.uniform(8, SIDE - 8, 2)
    angle, half = random.uniform(0, np.pi), random.uniform(10, 42)
    along = (rows - row) * np.sin(angle) + (columns - column) * np.cos(angle)
    across = (rows - row) * np.cos(angle) - (columns - column) * np.sin(angle)
    across = across + random.normal(0, 0.0012) * along**2
    width = random.uniform(0.7, 1.5)
    ends = np.clip((half - np.abs(along)) / 4, 0, 1)
    uneven = 1 + 0.25 * np.sin(along / random.uniform(3, 9) + random.uniform(0, 6))
    return random.uniform(0.3, 0.8) * ends * uneven * np.exp(-0.5 * (across / width) ** 2)


def draw_record(random: np.random.Generator) -> tuple[dict[int, np.ndarray], np.ndarray]:
    """Bands in kelvin, (SIDE, SIDE) each, and the mask of its contrails."""
    ground = random.uniform(276, 298) + 2.5 * smooth_noise(random, 1.6)
    cloud = np.clip(smooth_noise(random, 1.7) - random.uniform(0.2, 1.6), 0, 1.5)
    ice = 0.8 * np.clip(
        smooth_noise(random, 1.5, random.uniform(1, 4)) - random.uniform(0, 1.6), 0, 2
    )
    contrails = np.zeros((SIDE, SIDE))
    if random.random() < CONTRAIL_SHARE:
        for _ in range(random.integers(1, 6)):
            contrails = np.maximum(contrails, draw_contrail(random))
    # Thick cloud below or thick ice around it hides a contrail.
    seen = contrails * np.exp(-1.2 * cloud) * np.exp(-0.8 * ice)
    thickness = ice + seen
    cover = 1 - np.exp(-1.3 * thickness)

    band14 = ground - 18 * cloud - 28 * cover
    thin = cover * np.exp(-0.8 * thickness)
    bands = {
        11: band14 - 1.5 + 4.5 * thin + 1.2 * cloud + 0.5 * smooth_noise(random, 1.5),
        14: band14,
        15: band14 - 0.9 - 5.0 * thin + 0.5 * cloud + 0.25 * smooth_noise(random, 1.5),
    }
    noisy = {
        band: (values + random.normal(0, SENSOR_NOISE, values.shape)).astype(np.float32)
        for band, values in bands.items()
    }
    return noisy, seen > VISIBLE


def add_array(archive: zipfile.ZipFile, name: str, array: np.ndarray) -> None:
    content = io.BytesIO()
    np.save(content, array)
    entry = zipfile.ZipInfo(name, TIME)
    archive.writestr(entry, content.getvalue(), zipfile.ZIP_DEFLATED, compresslevel=1)


def main() -> None:
    sample = read_sample()
    random = np.random.default_rng(sample.seed)
    with zipfile.ZipFile(sample.downloads / ARCHIVE, "w") as archive:
        for split, records in (("train", TRAIN_RECORDS), ("validation", VALIDATION_RECORDS)):
            for _ in range(records):
                folder = f"{split}/{random.integers(10**17, 10**18)}"
                bands, mask = draw_record(random)
                for band, values in bands.items():
                    frames = np.zeros((SIDE, SIDE, FRAMES), np.float32)
                    frames[:, :, LABELLED_FRAME] = values
                    add_array(archive, f"{folder}/band_{band}.npy", frames)
                masks = mask[:, :, None].astype(np.int32)
                add_array(archive, f"{folder}/human_pixel_masks.npy", masks)


if __name__ == "__main__":
    main()
