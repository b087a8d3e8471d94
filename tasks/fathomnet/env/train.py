"""Identifies animals in underwater images with a small network, and writes submission.csv."""

import csv
import os

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SEED = int(os.environ.get("MLAB_SEED", "0"))
CHANNELS = (16, 32, 64, 64)
KERNEL = 5
HIDDEN = (128, 64)
IMAGE_DROPOUT = 0.2
HIDDEN_DROPOUT = 0.5
LEARNING_RATE = 0.001
BATCH = 64
EPOCHS = 1
VALIDATION_SHARE = 0.3
THRESHOLD = 0.5
MOST = 20
# The probability that an image contains animals unlike those in the training images.
OUT_OF_SAMPLE = 0.5

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def read_csv(file: str) -> list[dict[str, str]]:
    with open(file, newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


class Images(Dataset):
    """Some rows of an array of images, as floats in [0, 1] of shape (3, 256, 256)."""

    def __init__(self, images: np.ndarray, rows: np.ndarray, targets: np.ndarray | None) -> None:
        self.images = images
        self.rows = rows
        self.targets = targets

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> tuple[torch.Tensor, torch.Tensor]:
        row = self.rows[place]
        image = torch.from_numpy(np.array(self.images[row])).permute(2, 0, 1).float() / 255
        target = torch.zeros(0) if self.targets is None else torch.from_numpy(self.targets[row])
        return image, target


def build_model(categories: int) -> nn.Sequential:
    """Images of shape (n, 3, 256, 256) to probabilities of shape (n, categories)."""
    layers: list[nn.Module] = []
    before = 3
    for channels in CHANNELS:
        layers += [
            nn.Conv2d(before, channels, KERNEL, padding="same"),
            nn.ReLU(),
            nn.BatchNorm2d(channels),
            nn.MaxPool2d(2),
            nn.Dropout(IMAGE_DROPOUT),
        ]
        before = channels
    side = 256 // 2 ** len(CHANNELS)
    layers.append(nn.Flatten())
    before = before * side * side
    for width in HIDDEN:
        layers += [nn.Linear(before, width), nn.ReLU(), nn.Dropout(HIDDEN_DROPOUT)]
        before = width
    return nn.Sequential(*layers, nn.Linear(before, categories), nn.Sigmoid())


def train_epoch(model: nn.Module, batches: DataLoader, optimizer: torch.optim.Optimizer) -> float:
    """The mean loss."""
    model.train()
    loss_of = nn.BCELoss()
    total = 0.0
    for images, targets in batches:
        optimizer.zero_grad()
        loss = loss_of(model(images.to(DEVICE)), targets.to(DEVICE))
        loss.backward()
        optimizer.step()
        total += loss.item() * len(images)
    return total / len(batches.dataset)


def choose_categories(probabilities: np.ndarray, ids: np.ndarray) -> list[int]:
    """Ids of the categories that are likely enough, the most likely first."""
    order = np.argsort(-probabilities, kind="stable")
    return [int(ids[place]) for place in order if probabilities[place] > THRESHOLD][:MOST]


@torch.no_grad()
def predict(model: nn.Module, images: Dataset) -> np.ndarray:
    """Probabilities of shape (images, categories)."""
    model.eval()
    rows = []
    for _ in range(len(images)):
        batch, _ = next(iter(DataLoader(images, batch_size=1)))
        rows.append(model(batch.to(DEVICE))[0].cpu().numpy())
    return np.stack(rows)


@torch.no_grad()
def validate(model: nn.Module, batches: DataLoader, ids: np.ndarray) -> float:
    """MAP@20 of the predicted categories."""
    model.eval()
    scores = []
    for images, targets in batches:
        probabilities = model(images.to(DEVICE)).cpu().numpy()
        for row, target in zip(probabilities, targets.numpy(), strict=True):
            truth = set(ids[target > 0].tolist())
            right, score = 0, 0.0
            for place, category in enumerate(choose_categories(row, ids), start=1):
                if category in truth:
                    right += 1
                    score += right / place
            scores.append(score / min(MOST, len(truth)))
    return float(np.mean(scores))


def main() -> None:
    torch.manual_seed(SEED)
    ids = np.array([int(row["id"]) for row in read_csv("data/category_key.csv")])
    place_of = {category: place for place, category in enumerate(ids.tolist())}
    train_rows = read_csv("data/train.csv")
    targets = np.zeros((len(train_rows), len(ids)), dtype=np.float32)
    for row, known in enumerate(train_rows):
        for category in known["categories"].split():
            targets[row, place_of[int(category)]] = 1
    images = np.load("data/train_images.npy", mmap_mode="r")

    shuffled = np.random.default_rng(SEED).permutation(len(images))
    cut = max(1, int(VALIDATION_SHARE * len(images)))
    fitted = DataLoader(Images(images, shuffled[cut:], targets), BATCH, shuffle=True)
    held_out = DataLoader(Images(images, shuffled[:cut], targets), BATCH)
    print(f"{len(fitted.dataset)} images to train on, {cut} to validate, on {DEVICE}")

    model = build_model(len(ids)).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    for epoch in range(1, EPOCHS + 1):
        print(f"epoch {epoch}: loss {train_epoch(model, fitted, optimizer):.4f}")
    print(f"validation MAP@20: {validate(model, held_out, ids):.4f}")

    test_rows = read_csv("data/test.csv")
    test_images = np.load("data/test_images.npy", mmap_mode="r")
    probabilities = predict(model, Images(test_images, np.arange(len(test_images)), None))
    with open("submission.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "categories", "osd"])
        for known, row in zip(test_rows, probabilities, strict=True):
            chosen = " ".join(map(str, choose_categories(row, ids)))
            writer.writerow([known["id"], chosen, OUT_OF_SAMPLE])


if __name__ == "__main__":
    main()
