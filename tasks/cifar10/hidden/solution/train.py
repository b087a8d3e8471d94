"""Classifies small images with a small residual network, and writes submission.csv."""

import csv
import os

import numpy as np
import torch
from torch import nn
from torch.nn import functional

SEED = int(os.environ.get("MLAB_SEED", "0"))

PEAK_LEARNING_RATE = 0.01
WEIGHT_DECAY = 0.02
BATCH_SIZE = 64
EPOCHS = 10
WIDTHS = (16, 32, 64)
LABEL_SMOOTHING = 0.05
SHIFT = 3
VALIDATION_SHARE = 0.1
CLASSES = 10


def block(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )


class Residual(nn.Module):
    """Two convolutions with a residual connection."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.blocks = nn.Sequential(block(channels, channels), block(channels, channels))

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden + self.blocks(hidden)


class Network(nn.Module):
    """Convolutions at half, a quarter and an eighth of the resolution, then global max pooling."""

    def __init__(self) -> None:
        super().__init__()
        first, second, third = WIDTHS
        self.layers = nn.Sequential(
            block(3, first),
            nn.MaxPool2d(2),
            block(first, second),
            nn.MaxPool2d(2),
            Residual(second),
            block(second, third, stride=2),
            Residual(third),
            nn.AdaptiveMaxPool2d(1),
            nn.Flatten(),
            nn.Linear(third, CLASSES),
        )

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """From (batch, 3, 32, 32) in [-1, 1] to one logit per class, (batch, 10)."""
        return self.layers(images)


def to_input(images: torch.Tensor) -> torch.Tensor:
    """From bytes, (batch, 32, 32, 3), to floats in [-1, 1], (batch, 3, 32, 32)."""
    return images.permute(0, 3, 1, 2).float() / 127.5 - 1


def vary(images: torch.Tensor) -> torch.Tensor:
    """Mirrors half of the images and shifts all by up to SHIFT pixels. (batch, 3, 32, 32)."""
    count, _, height, width = images.shape
    padded = functional.pad(images, (SHIFT,) * 4, mode="reflect")
    down, right = torch.randint(2 * SHIFT + 1, (2, count, 1), device=images.device)
    rows = torch.arange(height, device=images.device) + down
    columns = torch.arange(width, device=images.device) + right
    mirrored = torch.rand(count, 1, device=images.device) < 0.5
    columns = torch.where(mirrored, columns.flip(1), columns)
    pictures = torch.arange(count, device=images.device)[:, None, None]
    shifted = padded.permute(0, 2, 3, 1)[pictures, rows[:, :, None], columns[:, None, :]]
    return shifted.permute(0, 3, 1, 2)


def train_epoch(
    network: Network,
    optimizer: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LRScheduler,
    images: torch.Tensor,
    labels: torch.Tensor,
) -> float:
    """Trains on all images once, in a new order; returns the mean loss."""
    network.train()
    total = 0.0
    order = torch.randperm(len(images)).to(images.device)
    for batch in order.split(BATCH_SIZE):
        output = network(vary(to_input(images[batch])))
        loss = functional.cross_entropy(output, labels[batch], label_smoothing=LABEL_SMOOTHING)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        total += loss.item() * len(batch)
    return total / len(images)


@torch.no_grad()
def predict(network: Network, images: torch.Tensor) -> torch.Tensor:
    """Class probabilities, (images, 10), averaged over each image and its mirror image."""
    network.eval()
    parts = []
    for part in images.split(1000):
        pictures = to_input(part)
        parts.append((network(pictures).softmax(1) + network(pictures.flip(3)).softmax(1)) / 2)
    return torch.cat(parts)


def write_submission(probabilities: torch.Tensor) -> None:
    with open("submission.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["index", *range(CLASSES)])
        for index, row in enumerate(probabilities.tolist()):
            writer.writerow([index, *(f"{value:.6f}" for value in row)])


def main() -> None:
    torch.manual_seed(SEED)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    images = torch.from_numpy(np.load("data/train_images.npy"))
    labels = torch.from_numpy(np.load("data/train_labels.npy")).long()
    test_images = torch.from_numpy(np.load("data/test_images.npy")).to(device)

    order = torch.randperm(len(images))
    held_out = int(len(images) * VALIDATION_SHARE)
    validation, train = order[:held_out], order[held_out:]
    train_images, train_labels = images[train].to(device), labels[train].to(device)
    validation_images, validation_labels = (
        images[validation].to(device),
        labels[validation].to(device),
    )

    network = Network().to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=WEIGHT_DECAY)
    steps = EPOCHS * -(-len(train_images) // BATCH_SIZE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, PEAK_LEARNING_RATE, total_steps=steps, pct_start=0.25
    )
    for epoch in range(EPOCHS):
        loss = train_epoch(network, optimizer, schedule, train_images, train_labels)
        print(f"epoch {epoch + 1} of {EPOCHS}: loss {loss:.4f}", flush=True)

    guesses = predict(network, validation_images).argmax(1)
    print(f"validation accuracy: {(guesses == validation_labels).float().mean().item():.4f}")
    write_submission(predict(network, test_images))


if __name__ == "__main__":
    main()
