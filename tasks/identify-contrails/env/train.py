"""Segments contrails in infrared satellite images with a placeholder; writes submission.csv."""

import csv
import os
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from run_lengths import encode
from torch import nn
from torch.nn import functional

SEED = int(os.environ.get("MLAB_SEED", "0"))

LEARNING_RATE = 1e-5
BATCH_SIZE = 8
EPOCHS = 1
CLASS_WEIGHTS = (0.57, 4.17)
PADDING = 2
VALIDATION_SHARE = 0.1
VALIDATION_SEED = 42
DICE_EPSILON = 1e-6

# Differences and temperatures in kelvin that are mapped to 0 and 1 in the false colours.
RED_RANGE = (-4, 2)
GREEN_RANGE = (-4, 5)
BLUE_RANGE = (243, 303)


class Placeholder(nn.Module):
    """Classifies each pixel by its own colour alone; starts from zero. A U-Net could go here."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(3, 2, kernel_size=1)
        nn.init.zeros_(self.convolution.weight)
        nn.init.zeros_(self.convolution.bias)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """From (batch, 3, rows, columns) to two logits per pixel, without and with contrail."""
        padded = functional.pad(images, (PADDING,) * 4, mode="reflect")
        return self.convolution(padded)[:, :, PADDING:-PADDING, PADDING:-PADDING]


def false_colours(bands: np.ndarray) -> np.ndarray:
    """From bands 11, 14 and 15 in kelvin to red, green and blue in [0, 1], (3, rows, columns)."""
    band11, band14, band15 = bands
    channels = [
        (band15 - band14, RED_RANGE),
        (band14 - band11, GREEN_RANGE),
        (band14, BLUE_RANGE),
    ]
    return np.stack(
        [np.clip((values - low) / (high - low), 0, 1) for values, (low, high) in channels]
    )


def read_images(files: list[Path]) -> torch.Tensor:
    """False colours of the records, float32, (records, 3, rows, columns)."""
    return torch.from_numpy(np.stack([false_colours(np.load(file)) for file in files])).float()


def read_masks(files: list[Path]) -> torch.Tensor:
    """1 where the annotators marked a contrail, int64, (records, rows, columns)."""
    masks = [np.load(Path("data/train_masks") / file.name) for file in files]
    return torch.from_numpy(np.stack(masks)).long()


def batches(files: list[Path]) -> Iterator[list[Path]]:
    for start in range(0, len(files), BATCH_SIZE):
        yield files[start : start + BATCH_SIZE]


def train_epoch(
    model: nn.Module, optimizer: torch.optim.Optimizer, files: list[Path], device: str
) -> float:
    """Trains on all records once, in a new order; returns the mean loss of the batches."""
    losses = []
    weights = torch.tensor(CLASS_WEIGHTS, device=device)
    for batch in batches(random.sample(files, len(files))):
        images, masks = read_images(batch).to(device), read_masks(batch).to(device)
        loss = functional.cross_entropy(model(images), masks, weight=weights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return float(np.mean(losses))


@torch.no_grad()
def predict(model: nn.Module, files: list[Path], device: str) -> Iterator[tuple[Path, np.ndarray]]:
    """The file of each record with its predicted mask of bools, (rows, columns)."""
    for batch in batches(files):
        masks = model(read_images(batch).to(device)).argmax(1) == 1
        yield from zip(batch, masks.cpu().numpy(), strict=True)


def dice(truth: np.ndarray, prediction: np.ndarray) -> float:
    overlap, sizes = (truth & prediction).sum(), truth.sum() + prediction.sum()
    return float((2 * overlap + DICE_EPSILON) / (sizes + DICE_EPSILON))


def main() -> None:
    random.seed(SEED)
    torch.manual_seed(SEED)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    files = sorted(Path("data/train").glob("*.npy"))
    random.Random(VALIDATION_SEED).shuffle(files)
    held_out = max(1, int(len(files) * VALIDATION_SHARE))
    validation, train = files[:held_out], files[held_out:]

    model = Placeholder().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    for epoch in range(EPOCHS):
        loss = train_epoch(model, optimizer, train, device)
        print(f"epoch {epoch + 1} of {EPOCHS}: loss {loss:.4f}", flush=True)

    scores = [
        dice(read_masks([file])[0].numpy() == 1, mask)
        for file, mask in predict(model, validation, device)
    ]
    print(f"validation Dice: {np.mean(scores):.4f}")

    with open("data/test.csv", newline="") as file:
        test = [Path("data/test") / f"{row['record_id']}.npy" for row in csv.DictReader(file)]
    with open("submission.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["record_id", "encoded_pixels"])
        for record, mask in predict(model, test, device):
            writer.writerow([record.stem, encode(mask)])


if __name__ == "__main__":
    main()
