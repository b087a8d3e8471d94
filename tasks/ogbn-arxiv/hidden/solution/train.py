"""Predicts the subject of papers from features averaged along citations.

Each paper is represented by its own features, by the averages over one and two hops along
citations in either direction, and by the subjects of the papers it is linked with, if they are
known (as in SIGN, Frasca et al. 2020, and label reuse). These are the inputs of a neural network.
"""

import csv
import os

import numpy as np
import scipy.sparse
import torch
from torch import nn

SEED = int(os.environ.get("MLAB_SEED", "0"))

STEPS = 2
HIDDEN = 128
DROPOUT = 0.5
LEARNING_RATE = 0.01
BATCH_SIZE = 256
EPOCHS = 10


def read_links(papers: int) -> scipy.sparse.csr_matrix:
    """Weights that average over linked papers: rows sum to 1, or to 0 without any link."""
    edges = np.load("data/edges.npy")
    both = np.concatenate([edges, edges[:, ::-1]])
    ones = np.ones(len(both), dtype=np.float32)
    links = scipy.sparse.coo_matrix((ones, (both[:, 0], both[:, 1])), shape=(papers, papers))
    links = links.tocsr()
    links.setdiag(0)
    links.eliminate_zeros()
    links.data[:] = 1
    degrees = np.asarray(links.sum(axis=1))[:, 0]
    return scipy.sparse.diags(1 / np.maximum(degrees, 1)).dot(links).astype(np.float32).tocsr()


def describe(
    features: np.ndarray, labels: np.ndarray, links: scipy.sparse.csr_matrix
) -> np.ndarray:
    """The inputs of the network: (papers, (STEPS + 1) · features + classes).

    A paper's own class is never in its row: it is not its own neighbour.
    """
    views = [features]
    for _ in range(STEPS):
        views.append(links @ views[-1])
    known = np.flatnonzero(labels >= 0)
    classes = np.zeros((len(labels), labels.max() + 1), dtype=np.float32)
    classes[known, labels[known]] = 1
    views.append(links @ classes)
    described = np.concatenate(views, axis=1)
    return (described - described.mean(axis=0)) / (described.std(axis=0) + 1e-6)


def make_model(inputs: int, outputs: int) -> nn.Module:
    """Three layers: (batch, inputs) to logits of shape (batch, outputs)."""

    def layer(width: int) -> list[nn.Module]:
        return [nn.Linear(width, HIDDEN), nn.BatchNorm1d(HIDDEN), nn.ReLU(), nn.Dropout(DROPOUT)]

    return nn.Sequential(*layer(inputs), *layer(HIDDEN), nn.Linear(HIDDEN, outputs))


def fit(described: torch.Tensor, labels: torch.Tensor) -> nn.Module:
    """Trains on rows (papers, inputs) and their classes (papers,), with learning rate decay."""
    model = make_model(described.shape[1], int(labels.max()) + 1).to(described.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    steps = EPOCHS * -(-len(labels) // BATCH_SIZE)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for epoch in range(EPOCHS):
        model.train()
        for batch in torch.randperm(len(labels), device=labels.device).split(BATCH_SIZE):
            if len(batch) > 1:  # batch normalisation needs two
                loss = nn.functional.cross_entropy(model(described[batch]), labels[batch])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            scheduler.step()
        print(f"epoch {epoch + 1}: last loss {loss.item():.4f}")
    return model


@torch.no_grad()
def predict(model: nn.Module, described: torch.Tensor) -> torch.Tensor:
    """The class with the largest logit. Shape (papers,)."""
    model.eval()
    return torch.cat([model(part).argmax(dim=1) for part in described.split(65536)])


def main() -> None:
    torch.manual_seed(SEED)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    features = np.load("data/features.npy")
    labels = np.load("data/labels.npy").astype(np.int64)
    train, valid = np.load("data/train.npy"), np.load("data/valid.npy")
    with open("data/test.csv", newline="") as file:
        test = [int(row["node"]) for row in csv.DictReader(file)]

    links = read_links(len(features))
    shown = labels.copy()
    shown[valid] = -1
    described = torch.from_numpy(describe(features, shown, links)).to(device)
    classes = torch.from_numpy(labels).to(device)
    model = fit(described[train], classes[train])
    accuracy = (predict(model, described[valid]) == classes[valid]).float().mean().item()
    print(f"validation accuracy: {accuracy:.4f}")

    # Validation is done: train on all papers with a known class.
    described = torch.from_numpy(describe(features, labels, links)).to(device)
    known = np.concatenate([train, valid])
    model = fit(described[known], classes[known])
    answers = predict(model, described[test]).tolist()
    with open("submission.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["node", "class"])
        writer.writerows(zip(test, answers, strict=True))


if __name__ == "__main__":
    main()
