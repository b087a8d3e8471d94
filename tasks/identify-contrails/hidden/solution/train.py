"""Segments contrails with a small U-Net on line filter responses; writes submission.csv."""

import csv
import math
import os
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from run_lengths import encode
from scipy import ndimage
from torch import nn
from torch.nn import functional

SEED = int(os.environ.get("MLAB_SEED", "0"))

LEARNING_RATE = 0.004
BATCH_SIZE = 4
# Minimum number of passes over the records, and minimum number of records seen in total.
LEAST_EPOCHS = 2
LEAST_VISITS = 800
CROP = 128
WIDTHS = (12, 24, 48)
DIRECTIONS = 12
LINE_LENGTHS = (9, 19)
SURROUNDING = 15
VALIDATION_SHARE = 0.2
VALIDATION_SEED = 42
DICE_EPSILON = 1e-6
# Candidates for the probability threshold of a marked pixel, and the minimum size of a contrail:
# the cautious first, since one wrong pixel makes a record without contrails score 0.
# The rule is chosen on this many records, those for validation first. If these are few, those that
# the model was trained on are better than none: it has seen each with many augmentations.
RULE_RECORDS = 400
THRESHOLDS = (0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
LEAST_PIXELS = (60, 40, 20, 10, 0)


def line_filters() -> torch.Tensor:
    """Mean along a central line minus the mean beside it, for every length and direction.

    Shape (lengths * directions, 1, size, size).
    """
    reach = max(LINE_LENGTHS) // 2
    rows, columns = torch.meshgrid(*[torch.arange(-reach, reach + 1.0)] * 2, indexing="ij")
    filters = []
    for length in LINE_LENGTHS:
        for number in range(DIRECTIONS):
            angle = math.pi * number / DIRECTIONS
            along = rows * math.sin(angle) + columns * math.cos(angle)
            across = (rows * math.cos(angle) - columns * math.sin(angle)).abs()
            near = (along.abs() <= length / 2).float()
            line = near * (1.2 - across).clamp(0, 1)
            beside = near * ((across > 2.5) & (across < 5)).float()
            filters.append(line / line.sum() - beside / beside.sum())
    return torch.stack(filters)[:, None]


def surrounding_mean(values: torch.Tensor) -> torch.Tensor:
    """Mean over the square around each pixel, as far as it is inside the image; the same shape."""
    side, half = 2 * SURROUNDING + 1, SURROUNDING
    columns = functional.avg_pool2d(values, (side, 1), 1, (half, 0), count_include_pad=False)
    return functional.avg_pool2d(columns, (1, side), 1, (0, half), count_include_pad=False)


class Features(nn.Module):
    """From bands in kelvin to channels of about unit size: colours, local contrast, lines."""

    channels = 5 + len(LINE_LENGTHS)

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("filters", line_filters())

    @torch.no_grad()
    def forward(self, bands: torch.Tensor) -> torch.Tensor:
        """From (batch, 3, rows, columns) to (batch, channels, rows, columns)."""
        band11, band14, band15 = bands.split(1, dim=1)
        ice = band14 - band15
        contrast = ice - surrounding_mean(ice)
        roughness = surrounding_mean(contrast**2).sqrt()
        reach = self.filters.shape[-1] // 2
        padded = functional.pad(ice, (reach,) * 4, mode="reflect")
        lines = functional.conv2d(padded, self.filters).unflatten(1, (len(LINE_LENGTHS), -1))
        return torch.cat(
            [
                ice / 2 - 1,
                (band14 - band11) / 4,
                (band14 - 275) / 20,
                contrast / (roughness + 0.3),
                roughness,
                2 * lines.amax(2) / (roughness + 0.3),
            ],
            dim=1,
        )


def block(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()
    )


class Model(nn.Module):
    """A U-Net of three levels on top of the features."""

    def __init__(self) -> None:
        super().__init__()
        fine, middle, coarse = WIDTHS
        self.features = Features()
        self.fine = block(self.features.channels, fine)
        self.middle = block(fine, middle)
        self.coarse = nn.Sequential(block(middle, coarse), block(coarse, middle))
        self.middle_again = block(2 * middle, fine)
        self.fine_again = nn.Sequential(block(2 * fine, fine), nn.Conv2d(fine, 1, 1))

    def forward(self, bands: torch.Tensor) -> torch.Tensor:
        """From (batch, 3, rows, columns) in kelvin to a logit per pixel, (batch, rows, columns)."""
        fine = self.fine(self.features(bands))
        middle = self.middle(functional.max_pool2d(fine, 2))
        coarse = self.coarse(functional.max_pool2d(middle, 2))
        middle = self.middle_again(torch.cat([middle, enlarge(coarse)], 1))
        return self.fine_again(torch.cat([fine, enlarge(middle)], 1))[:, 0]


def enlarge(hidden: torch.Tensor) -> torch.Tensor:
    return functional.interpolate(hidden, scale_factor=2)


def read_bands(files: list[Path]) -> torch.Tensor:
    return torch.from_numpy(np.stack([np.load(file) for file in files]))


def read_masks(files: list[Path]) -> torch.Tensor:
    masks = [np.load(Path("data/train_masks") / file.name) for file in files]
    return torch.from_numpy(np.stack(masks)).float()


def vary(bands: torch.Tensor, masks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A random crop of the images, rotated and mirrored at random."""
    height, width = masks.shape[1:]
    rows, columns = min(height, CROP), min(width, CROP)
    top, left = random.randint(0, height - rows), random.randint(0, width - columns)
    both = torch.cat([bands, masks[:, None]], 1)[..., top : top + rows, left : left + columns]
    both = torch.rot90(both, random.randrange(4), (2, 3))
    if random.random() < 0.5:
        both = both.flip(3)
    return both[:, :3], both[:, 3]


def loss_of(output: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Cross-entropy, and one minus the Dice of the probabilities over the whole batch."""
    probabilities = output.sigmoid()
    overlap, sizes = (probabilities * masks).sum(), probabilities.sum() + masks.sum()
    entropy = functional.binary_cross_entropy_with_logits(output, masks)
    return 5 * entropy + 1 - (2 * overlap + 1) / (sizes + 1)


def train(model: Model, files: list[Path], device: str) -> None:
    epochs = max(LEAST_EPOCHS, math.ceil(LEAST_VISITS / len(files)))
    steps = epochs * math.ceil(len(files) / BATCH_SIZE)
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=steps)
    model.train()
    losses: list[float] = []
    for epoch in range(epochs):
        order = random.sample(files, len(files))
        for start in range(0, len(order), BATCH_SIZE):
            batch = order[start : start + BATCH_SIZE]
            bands, masks = vary(read_bands(batch).to(device), read_masks(batch).to(device))
            loss = loss_of(model(bands), masks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        if (epoch + 1) % max(1, epochs // 8) == 0:
            print(f"epoch {epoch + 1} of {epochs}: loss {np.mean(losses[-50:]):.4f}", flush=True)


@torch.no_grad()
def predict(model: Model, files: list[Path], device: str) -> Iterator[tuple[Path, np.ndarray]]:
    """The file of each record with the probabilities of its pixels, (rows, columns)."""
    model.eval()
    for file in files:
        bands = read_bands([file]).to(device)
        turned = [model(bands), model(bands.flip(3)).flip(2), model(bands.flip(2)).flip(1)]
        yield file, torch.stack(turned).sigmoid().mean(0)[0].cpu().numpy()


def to_mask(probabilities: np.ndarray, threshold: float, least_pixels: int) -> np.ndarray:
    """Pixels of at least the given probability, in patches of at least the given size."""
    marked = probabilities >= threshold
    patches, count = ndimage.label(marked, structure=np.ones((3, 3)))
    sizes = ndimage.sum_labels(marked, patches, range(count + 1))
    return marked & (sizes >= least_pixels)[patches]


def dice(truth: np.ndarray, prediction: np.ndarray) -> float:
    overlap, sizes = (truth & prediction).sum(), truth.sum() + prediction.sum()
    return float((2 * overlap + DICE_EPSILON) / (sizes + DICE_EPSILON))


Known = list[tuple[np.ndarray, np.ndarray]]


def mean_dice(known: Known, threshold: float, least_pixels: int) -> float:
    """Of masks made from probabilities, against the true masks paired with them."""
    return float(np.mean([dice(truth, to_mask(p, threshold, least_pixels)) for p, truth in known]))


def choose_rule(known: Known) -> tuple[float, int]:
    """The first threshold and minimum size with the best score on known masks."""
    rules = [(threshold, least) for threshold in THRESHOLDS for least in LEAST_PIXELS]
    return max(rules, key=lambda rule: mean_dice(known, *rule))


def main() -> None:
    random.seed(SEED)
    torch.manual_seed(SEED)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    files = sorted(Path("data/train").glob("*.npy"))
    random.Random(VALIDATION_SEED).shuffle(files)
    held_out = max(1, int(len(files) * VALIDATION_SHARE))
    validation, training = files[:held_out], files[held_out:]

    model = Model().to(device)
    train(model, training, device)
    known = [
        (probabilities, read_masks([file])[0].numpy() == 1)
        for file, probabilities in predict(model, (validation + training)[:RULE_RECORDS], device)
    ]
    threshold, least_pixels = choose_rule(known)
    print(f"marks pixels from {threshold}, in patches of at least {least_pixels}")
    print(f"validation Dice: {mean_dice(known[:held_out], threshold, least_pixels):.4f}")

    with open("data/test.csv", newline="") as file:
        test = [Path("data/test") / f"{row['record_id']}.npy" for row in csv.DictReader(file)]
    with open("submission.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["record_id", "encoded_pixels"])
        for record, probabilities in predict(model, test, device):
            mask = to_mask(probabilities, threshold, least_pixels)
            writer.writerow([record.stem, encode(mask)])


if __name__ == "__main__":
    main()
