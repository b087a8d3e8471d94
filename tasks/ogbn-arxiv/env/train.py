"""Predicts the subject of papers from their features, and writes submission.csv.

A small neural network classifies papers individually. The citations in data/edges.npy are not used.
"""

import copy
import csv
import os

import numpy as np
import torch
from torch import nn

SEED = int(os.environ.get("MLAB_SEED", "0"))

HIDDEN = 16
OUTPUTS = 172
LEARNING_RATE = 1.0
PATIENCE = 7  # batches without a lower loss before the learning rate is cut
BATCH_SIZE = 1024
EPOCHS = 4


def make_model(features: int) -> nn.Module:
    """Two layers: (batch, features) to logits of shape (batch, OUTPUTS)."""
    return nn.Sequential(nn.Linear(features, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, OUTPUTS))


def train_epoch(
    model: nn.Module,
    features: torch.Tensor,
    labels: torch.Tensor,
    optimizer: torch.optim.Optimizer,
    scheduler: torch.optim.lr_scheduler.ReduceLROnPlateau,
) -> float:
    """One pass over shuffled papers. Returns the mean loss."""
    model.train()
    total = 0.0
    for batch in torch.randperm(len(labels), device=labels.device).split(BATCH_SIZE):
        loss = nn.functional.cross_entropy(model(features[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step(loss.item())
        total += loss.item() * len(batch)
    return total / len(labels)


@torch.no_grad()
def predict(model: nn.Module, features: torch.Tensor) -> torch.Tensor:
    """The class with the largest logit. Shape (papers,)."""
    model.eval()
    return torch.cat([model(part).argmax(dim=1) for part in features.split(65536)])


def main() -> None:
    torch.manual_seed(SEED)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    features = torch.from_numpy(np.load("data/features.npy")).to(device)
    labels = torch.from_numpy(np.load("data/labels.npy").astype(np.int64)).to(device)
    train = torch.from_numpy(np.load("data/train.npy")).to(device)
    valid = torch.from_numpy(np.load("data/valid.npy")).to(device)
    with open("data/test.csv", newline="") as file:
        test = [int(row["node"]) for row in csv.DictReader(file)]

    model = make_model(features.shape[1]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=PATIENCE)
    best_accuracy, best_weights = -1.0, {}
    for epoch in range(EPOCHS):
        loss = train_epoch(model, features[train], labels[train], optimizer, scheduler)
        accuracy = (predict(model, features[valid]) == labels[valid]).float().mean().item()
        print(f"epoch {epoch + 1}: loss {loss:.4f}, validation accuracy {accuracy:.4f}")
        if accuracy > best_accuracy:
            best_accuracy, best_weights = accuracy, copy.deepcopy(model.state_dict())

    model.load_state_dict(best_weights)
    accuracy = (predict(model, features[train]) == labels[train]).float().mean().item()
    print(f"train accuracy: {accuracy:.4f}")
    print(f"validation accuracy: {best_accuracy:.4f}")

    classes = predict(model, features[test]).tolist()
    with open("submission.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["node", "class"])
        writer.writerows(zip(test, classes, strict=True))


if __name__ == "__main__":
    main()
