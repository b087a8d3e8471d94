"""Trains a network to imitate the Floyd-Warshall algorithm, and saves its weights.

The network is in reasoner.py, its config in config.py, the graphs in graphs.py: none of them may be
changed.
"""

import copy
import json
import os
from pathlib import Path

import numpy as np
import torch
from config import Config, write_config
from graphs import Batch, draw_batch
from reasoner import Hints, Reasoner
from safetensors.torch import save_file
from torch import Tensor, nn

SEED = int(os.environ.get("MLAB_SEED", "0"))

CONFIG = Config(
    processor="all_pairs",
    hidden=128,
    triplets=8,
    gated=True,
    layer_norm=True,
    message_passing_steps=1,
    hints="encoded",
    feedback="soft",
)
LEARNING_RATE = 0.001
GRADIENT_NORM = 1.0
EDGE_PROBABILITIES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
VALIDATION_GRAPHS = 64
VALIDATE_EVERY = 50
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def to_device(array: np.ndarray) -> Tensor:
    return torch.from_numpy(array).to(DEVICE)


def pointer_loss(logits: Tensor, pointers: Tensor) -> Tensor:
    """Mean cross-entropy; the last axis of the logits is the node pointed to."""
    return nn.functional.cross_entropy(logits.flatten(0, -2), pointers.flatten())


def hint_loss(predicted: Hints, batch: Batch, step: int) -> Tensor:
    """Sum of the losses of all hints for one step of the algorithm."""
    middle = torch.full((len(batch.positions),), step, device=DEVICE)
    reached = to_device(batch.hint_reached[step])
    distances = to_device(batch.hint_distances[step])
    return (
        pointer_loss(predicted.pointers, to_device(batch.hint_pointers[step]))
        + nn.functional.mse_loss(predicted.distances, distances)
        + nn.functional.binary_cross_entropy_with_logits(predicted.reached, reached)
        + pointer_loss(predicted.middle, middle)
    )


def run(model: Reasoner, batch: Batch) -> tuple[Tensor, list[Hints]]:
    inputs = (batch.positions, batch.weights, batch.edges)
    return model(*(to_device(array) for array in inputs))


def train_step(model: Reasoner, optimizer: torch.optim.Optimizer, batch: Batch) -> float:
    """One training step on one batch. Returns its loss."""
    logits, predicted = run(model, batch)
    loss = pointer_loss(logits, to_device(batch.pointers))
    if predicted:
        losses = [hint_loss(hints, batch, step) for step, hints in enumerate(predicted, start=1)]
        loss = loss + torch.stack(losses).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), GRADIENT_NORM)
    optimizer.step()
    return loss.item()


@torch.no_grad()
def accuracy(model: Reasoner, batch: Batch) -> float:
    """Share of correct pointers."""
    logits, _ = run(model, batch)
    return (logits.argmax(dim=-1) == to_device(batch.pointers)).float().mean().item()


def main() -> None:
    settings = json.loads(Path("data/settings.json").read_text())
    torch.manual_seed(SEED)
    random = np.random.default_rng(SEED)
    nodes = settings["validation_nodes"]
    validation = draw_batch(random, VALIDATION_GRAPHS, nodes, EDGE_PROBABILITIES)

    model = Reasoner(CONFIG).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    best, weights = -1.0, {}
    for step in range(settings["steps"]):
        nodes = settings["train_nodes"][step % len(settings["train_nodes"])]
        batch = draw_batch(random, settings["batch"], nodes, EDGE_PROBABILITIES)
        loss = train_step(model, optimizer, batch)
        if (step + 1) % VALIDATE_EVERY == 0 or step + 1 == settings["steps"]:
            found = accuracy(model, validation)
            print(f"step {step + 1}: loss {loss:.4f}, validation accuracy {found:.4f}", flush=True)
            if found > best:
                best, weights = found, copy.deepcopy(model.state_dict())
    print(f"validation accuracy: {best:.4f}")

    Path("config.json").write_text(write_config(CONFIG))
    save_file({name: array.cpu() for name, array in weights.items()}, "checkpoint.safetensors")


if __name__ == "__main__":
    main()
