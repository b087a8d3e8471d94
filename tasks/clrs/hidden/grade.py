"""Share of correct predecessor pointers of a submitted network on hidden graphs.

No submitted code runs: weights and config are read as data, and loaded into the original of
the network's class.
"""

import math
import os
import sys
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "env"))

from config import Config, read_config
from reasoner import Reasoner
from safetensors import SafetensorError
from safetensors.torch import load

from mlab_task.grading import Score, grade, read_arguments
from mlab_task.problems import Rejected, quoted
from mlab_task.submission import Submission

CONFIG, WEIGHTS = "config.json", "checkpoint.safetensors"
LONGEST_CONFIG = 10_000
GRAPHS_AT_ONCE = 4
MOST_SECONDS = 300
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def read_submitted_config(submission: Submission) -> Config:
    text = submission.read(CONFIG)
    if len(text) > LONGEST_CONFIG:
        raise Rejected("too_large", f"{CONFIG}: longer than {LONGEST_CONFIG:,} bytes")
    try:
        return read_config(text.decode("utf-8"))
    except ValueError as error:
        raise Rejected("not_allowed", f"{CONFIG}: {error}") from None


def load_model(submission: Submission) -> Reasoner:
    """The network with the submitted weights, all of which are checked.

    :raises Rejected: the config is not allowed, or the weights do not fit it
    """
    config = read_submitted_config(submission)
    with torch.device("meta"):
        expected = Reasoner(config).state_dict()
    try:
        weights = load(submission.read(WEIGHTS))
    except (SafetensorError, ValueError, KeyError, AttributeError, RuntimeError):
        raise Rejected("unreadable", f"{WEIGHTS}: not in the safetensors format") from None
    check_weights(weights, expected)
    model = Reasoner(config)
    model.load_state_dict(weights)
    return model.to(DEVICE).eval()


def check_weights(weights: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> None:
    if weights.keys() != expected.keys():
        missing, extra = expected.keys() - weights.keys(), weights.keys() - expected.keys()
        message = f"{WEIGHTS}: {len(missing)} arrays are missing and {len(extra)} are unknown"
        name = min(missing or extra)
        raise Rejected("wrong_shape", f"{message}, such as {quoted(name, 80)}")
    for name, array in weights.items():
        if array.dtype != torch.float32:
            raise Rejected("wrong_shape", f"{WEIGHTS}: {name} is not an array of 32-bit floats")
        if array.shape != expected[name].shape:
            shapes = f"{tuple(array.shape)} instead of {tuple(expected[name].shape)}"
            raise Rejected("wrong_shape", f"{WEIGHTS}: {name} has the shape {shapes}")
        if not array.isfinite().all():
            raise Rejected("not_finite", f"{WEIGHTS}: {name} is not finite everywhere")


@torch.no_grad()
def predict(model: Reasoner, inputs: list[torch.Tensor]) -> torch.Tensor:
    """The best pointers, (graphs, nodes, nodes), for positions, weights and edges."""
    parts = []
    start = time.monotonic()
    for part in zip(*(array.split(GRAPHS_AT_ONCE) for array in inputs), strict=True):
        logits, _ = model(*(array.to(DEVICE) for array in part))
        if not logits.isfinite().all():
            raise Rejected("not_finite", "the network's output is not finite everywhere")
        parts.append(logits.argmax(dim=-1).cpu())
        if time.monotonic() - start > MOST_SECONDS:
            message = f"the network takes more than {MOST_SECONDS} seconds for the hidden graphs"
            raise Rejected("timed_out", message)
    return torch.cat(parts)


def main() -> None:
    arguments = read_arguments()
    names = ("positions", "weights", "edges")
    inputs = [torch.from_numpy(np.load(arguments.private / f"{name}.npy")) for name in names]
    pointers = torch.from_numpy(np.load(arguments.private / "pointers.npy").astype(np.int64))

    def score(submission: Submission) -> Score:
        right = (predict(load_model(submission), inputs) == pointers).double()
        by_graph = right.mean(dim=(1, 2))
        error = by_graph.std().item() / math.sqrt(len(by_graph))
        return Score(right.mean().item(), details={"standard_error": error})

    grade(score, arguments)


if __name__ == "__main__":
    main()
