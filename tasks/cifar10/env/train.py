"""Classifies small images with a small convolutional network, and writes submission.csv."""

import csv
import os

import numpy as np
import torch
from torch import nn
from torch.nn import functional

SEED = int(os.environ.get("MLAB_SEED", "0"))

LEARNING_RATE = 0.1
MOMENTUM = 0.9
BATCH_SIZE = 128
EPOCHS = 5
VALIDATION_SHARE = 0.1
CLASSES = 10


class Network(nn.Module):
    """Two convolutions with pooling, then three dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution1 = nn.Conv2d(3, 6, kernel_size=5)
        self.convolution2 = nn.Conv2d(6, 16, kernel_size=5)
        self.dense1 = nn.Linear(16 * 5 * 5, 120)
        self.dense2 = nn.Linear(120, 84)
        self.dense3 = nn.Linear(84, CLASSES)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """From (batch, 3, 32, 32) in [-1, 1] to one logit per class, (batch, 10)."""
        hidden = functional.max_pool2d(functional.relu(self.convolution1(images)), 2)
        hidden = functional.max_pool2d(functional.relu(self.convolution2(hidden)), 2)
        hidden = functional.relu(self.dense1(hidden.flatten(1)))
        return self.dense3(functional.relu(self.dense2(hidden)))


def to_input(images: torch.Tensor) -> torch.Tensor:
    """From bytes, (batch, 32, 32, 3), to floats in [-1, 1], (batch, 3, 32, 32)."""
    return images.permute(0, 3, 1, 2).float() / 127.5 - 1


def train_epoch(
    network: Network, optimizer: torch.optim.Optimizer, images: torch.Tensor, labels: torch.Tensor
) -> float:
    """Trains on all images once, in a new order; returns the mean loss."""
    network.train()
    total = 0.0
    order = torch.randperm(len(images)).to(images.device)
    for batch in order.split(BATCH_SIZE):
        loss = functional.cross_entropy(network(to_input(images[batch])), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(images)


@torch.no_grad()
def predict(network: Network, images: torch.Tensor) -> torch.Tensor:
    """Class probabilities, (images, 10)."""
    network.eval()
    parts = [network(to_input(part)).softmax(1) for part in images.split(1000)]
    return torch.cat(parts)


def accuracy(network: Network, images: torch.Tensor, labels: torch.Tensor) -> float:
    return (predict(network, images).argmax(1) == labels).float().mean().item()


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

    network = Network().to(device)
    optimizer = torch.optim.SGD(network.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM)
    for epoch in range(EPOCHS):
        loss = train_epoch(network, optimizer, train_images, train_labels)
        print(f"epoch {epoch + 1} of {EPOCHS}: loss {loss:.4f}")

    print(f"train accuracy: {accuracy(network, train_images, train_labels):.4f}")
    print(f"validation accuracy: {accuracy(network, validation_images, validation_labels):.4f}")
    write_submission(predict(network, test_images))


if __name__ == "__main__":
    main()
