"""A small residual network for pictures."""

from collections.abc import Callable
from time import perf_counter

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from automl.arrays import as_pictures, shrink
from automl.data import Data, write_submission
from automl.scores import balance, score
from automl.settings import CLASSIFIES, METRIC, METRIC_NAME, SEED, UNIT, seconds_left

MOST_PASSES = 30
"""How often a network may see a picture at most."""
DIAGONAL = 4
"""Instead of an axis: square pictures mirrored along the diagonal."""
BATCH = 128
LEARNING_RATE = 4e-3
WEIGHT_DECAY = 0.05
LABEL_SMOOTHING = 0.1
WIDTHS = (8, 12, 16, 24, 32, 48, 64)
MOST_NETWORKS = 3
# What the time allowed in an earlier run; 0: found out now.
WIDTH = 0
EPOCHS = 0
NETWORKS = 0


class Block(nn.Module):
    """Two convolutions beside a short cut, on the halved picture."""

    def __init__(self, channels: int, out: int) -> None:
        super().__init__()
        self.pool = nn.MaxPool2d(2)
        self.first = nn.Conv2d(channels, out, 3, padding=1, bias=False)
        self.second = nn.Conv2d(out, out, 3, padding=1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(out), nn.BatchNorm2d(out)])
        self.cut = nn.Identity() if channels == out else nn.Conv2d(channels, out, 1, bias=False)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        pictures = self.pool(pictures)
        inner = functional.relu(self.norms[0](self.first(pictures)))
        return functional.relu(self.norms[1](self.second(inner)) + self.cut(pictures))


class Network(nn.Module):
    def __init__(self, channels: int, side: int, width: int, outputs: int) -> None:
        super().__init__()
        stem = nn.Conv2d(channels, width, 3, padding=1, bias=False)
        layers: list[nn.Module] = [stem, nn.BatchNorm2d(width), nn.ReLU()]
        # As often halved as leaves at least four points a side.
        for place in range(max(1, min(4, int(np.log2(max(side, 8) / 4))))):
            wide = width * 2 ** min(place + 1, 2)
            layers.append(Block(width * 2 ** min(place, 2), wide))
        self.layers = nn.Sequential(*layers)
        self.last = nn.Linear(2 * wide, outputs)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        seen = self.layers(pictures)
        return self.last(torch.cat([seen.mean(dim=(2, 3)), seen.amax(dim=(2, 3))], dim=1))


def mirrored(pictures: torch.Tensor, axis: int) -> torch.Tensor:
    return pictures.swapaxes(2, 3) if axis == DIAGONAL else pictures.flip(axis)


def ways_to_mirror(pictures: np.ndarray, truth: np.ndarray) -> list[int]:
    """Those in which a simple model tells pictures that it never saw as well as the others."""
    try:
        from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
    except ImportError:
        return []
    rows = np.random.default_rng(SEED).permutation(len(truth))[:4_000]
    small = torch.from_numpy(shrink(pictures[rows], max(1, max(pictures.shape[2:]) // 12)))
    cut = int(0.6 * len(rows))
    trees = ExtraTreesClassifier if CLASSIFIES else ExtraTreesRegressor
    model = trees(100, min_samples_leaf=3, n_jobs=2, random_state=SEED)
    answers = (truth if CLASSIFIES else truth[:, 0])[rows]
    model.fit(small[:cut].flatten(1).numpy(), answers[:cut])

    def known(others: torch.Tensor) -> float:
        return model.score(others.flatten(1).numpy(), answers[cut:])

    chance = max(np.bincount(truth)) / len(truth) if CLASSIFIES else 0
    # Of what the model knows beyond chance, hardly anything may be lost.
    least = 0.9 * (known(small[cut:]) - chance) + chance - 0.5 / np.sqrt(len(rows) - cut)
    axes = [3, 2, DIAGONAL] if pictures.shape[2] == pictures.shape[3] else [3, 2]
    return [axis for axis in axes if known(mirrored(small[cut:], axis)) >= least]


def varied(pictures: torch.Tensor, axes: list[int]) -> torch.Tensor:
    """Each picture shifted by up to an eighth, and mirrored by chance where that does no harm."""
    for axis in axes:
        chosen = torch.rand(len(pictures), 1, 1, 1, device=pictures.device) < 0.5
        pictures = torch.where(chosen, mirrored(pictures, axis), pictures)
    reach = max(1, pictures.shape[2] // 8)
    padded = functional.pad(pictures, (reach,) * 4, mode="reflect")
    # A few shifts a batch are as good as one for each picture, and quicker.
    parts = []
    for part in padded.split(16):
        top, left = torch.randint(0, 2 * reach + 1, (2,)).tolist()
        parts.append(part[:, :, top : top + pictures.shape[2], left : left + pictures.shape[3]])
    return torch.cat(parts)


def loss_between(told: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    if CLASSIFIES:
        return functional.cross_entropy(told, wanted, label_smoothing=LABEL_SMOOTHING)
    distance = functional.smooth_l1_loss if METRIC == "mae" else functional.mse_loss
    return distance(told, wanted)


def train(
    network: nn.Module,
    pictures: torch.Tensor,
    wanted: torch.Tensor,
    epochs: int,
    axes: list[int],
    batch: int,
) -> None:
    optimizer = torch.optim.AdamW(network.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    steps = epochs * -(-len(pictures) // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, steps)
    network.train()
    for _ in range(epochs):
        for rows in torch.randperm(len(pictures)).split(batch):
            # A single picture has no spread to be normed by.
            if len(rows) > 1:
                loss = loss_between(network(varied(pictures[rows], axes)), wanted[rows])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            schedule.step()


@torch.no_grad()
def predict(network: nn.Module, pictures: torch.Tensor, axes: list[int]) -> np.ndarray:
    """What it says of the pictures and of their mirror images, on the mean."""
    network.eval()
    ways = [pictures, *(mirrored(pictures, axis) for axis in axes)]
    told = [torch.cat([network(part) for part in way.split(256)]) for way in ways]
    if CLASSIFIES:
        told = [each.softmax(dim=1) for each in told]
    return torch.stack(told).mean(dim=0).cpu().numpy()


def seconds_an_epoch(
    network: nn.Module, pictures: torch.Tensor, wanted: torch.Tensor, batch: int
) -> float:
    """From two steps, after one that is not counted."""
    some = min(len(pictures), 2 * batch)
    train(network, pictures[:batch], wanted[:batch], 1, [], batch)
    began = perf_counter()
    train(network, pictures[:some], wanted[:some], 1, [], batch)
    return (perf_counter() - began) * len(pictures) / some


def what_time_allows(seconds_with: Callable[[int], float], rows: int) -> tuple[int, int, int]:
    """
    Width, epochs and number of networks: the widest network that sees the pictures often enough in
    the time; else the narrowest.
    """
    often, width, lasts = min(MOST_PASSES, int(np.clip(40_000 / rows, 12, 40))), 0, 0.0
    for wider in WIDTHS:
        pace = 1.25 * seconds_with(wider)
        if width > 0 and pace * often > 0.85 * seconds_left():
            break
        width, lasts = wider, pace
    room = 0.85 * seconds_left()
    epochs = int(np.clip(room / lasts, 1, MOST_PASSES))
    return width, epochs, int(np.clip(room / (lasts * epochs), 1, MOST_NETWORKS))


def learn_pictures(data: Data, rows: np.ndarray) -> None:
    torch.manual_seed(SEED)
    pictures = as_pictures(rows)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    order = np.random.default_rng(SEED).permutation(data.rows)
    held, known = np.split(order, [min(5_000, max(data.rows // 8, 1))])
    layout = {"memory_format": torch.channels_last}
    tensors = torch.from_numpy(pictures.astype(np.float32)).to(device, **layout)
    if CLASSIFIES:
        outputs, answers = len(data.classes), torch.from_numpy(data.truth).long()
    else:
        middle, spread = data.truth[known].mean(axis=0), data.truth[known].std(axis=0) + 1e-12
        outputs = data.truth.shape[1]
        answers = torch.from_numpy(((data.truth - middle) / spread).astype(np.float32))
    answers = answers.to(device)
    batch = min(BATCH, max(16, len(known) // 20))
    axes = ways_to_mirror(pictures[: data.rows], data.truth)
    print(f"mirrored along axes {axes}")

    def made(width: int) -> nn.Module:
        return Network(pictures.shape[1], min(pictures.shape[2:]), width, outputs).to(
            device, **layout
        )

    def pace(width: int) -> float:
        return seconds_an_epoch(made(width), tensors[known], answers[known], batch)

    if device == "cpu":
        # Beside other work, several threads can be slower than one.
        together, threads = pace(WIDTHS[0]), torch.get_num_threads()
        torch.set_num_threads(1)
        torch.set_num_threads(1 if pace(WIDTHS[0]) < together else threads)
    width, epochs, networks = WIDTH, min(EPOCHS, MOST_PASSES), NETWORKS
    if width == 0:
        width, epochs, networks = what_time_allows(pace, len(known))
    print(f"networks: {networks}, width: {width}, epochs: {epochs}")
    told = []
    for _ in range(networks):
        network = made(width)
        train(network, tensors[known], answers[known], epochs, axes, batch)
        told.append(predict(network, tensors, axes))
    guess = np.mean(told, axis=0)
    if not CLASSIFIES:
        guess = guess * spread + middle
    truth = data.truth[held]
    guess *= balance(truth, guess[held])
    print(f"validation {METRIC_NAME}: {UNIT * score(truth, guess[held]):.6g}")
    write_submission(data, guess[data.rows :])
