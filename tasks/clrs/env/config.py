"""The options of the network in reasoner.py, and how they are written as JSON."""

import dataclasses
import json
from dataclasses import dataclass

CHOICES: dict[str, tuple[str, ...]] = {
    "processor": ("all_pairs", "neighbours", "attention"),
    "aggregator": ("max", "min", "mean", "sum"),
    "triplet_aggregator": ("max", "min", "mean"),
    "hints": ("encoded", "decoded", "none"),
    "feedback": ("soft", "hard"),
    "pointer_decoder": ("max", "product"),
}
RANGES: dict[str, tuple[int, int]] = {
    "hidden": (4, 256),
    "triplets": (0, 32),
    "message_layers": (0, 3),
    "message_passing_steps": (1, 3),
    "heads": (1, 8),
}


@dataclass(frozen=True)
class Config:
    """The options of a `Reasoner`.

    hidden: width of all layers, 4 to 256
    processor: which nodes a node receives messages from: all, its neighbours and itself, or all
        nodes, weighted by attention
    aggregator: how messages are aggregated: max, min, mean or sum; attention always averages
    heads: 1 to 8 heads of the attention; they must divide `hidden`
    message_layers: 0 to 3 layers applied to each message
    message_passing_steps: 1 to 3 rounds of messages in each step
    gated: whether a gate controls how much of a node's state is replaced
    layer_norm: whether layer normalisation is applied to new states
    triplets: number of features computed for all triplets of nodes, 0 to 32
    triplet_aggregator: how the third node is aggregated out: max, min or mean
    hints: encoded (predicted in each step and read in the next), decoded (predicted only) or none
    feedback: predicted hints are fed back as probabilities (soft) or as decisions (hard)
    pointer_decoder: how pointers are scored: by maxima of sums (max) or by inner products (product)
    """

    hidden: int = 128
    processor: str = "all_pairs"
    aggregator: str = "max"
    heads: int = 1
    message_layers: int = 2
    message_passing_steps: int = 1
    gated: bool = True
    layer_norm: bool = True
    triplets: int = 8
    triplet_aggregator: str = "max"
    hints: str = "encoded"
    feedback: str = "soft"
    pointer_decoder: str = "max"

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}")
        for name, (least, most) in RANGES.items():
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise ValueError(f"{name} must be an integer from {least} to {most}")
        for name in ("gated", "layer_norm"):
            if type(getattr(self, name)) is not bool:
                raise ValueError(f"{name} must be true or false")
        if self.hidden % self.heads:
            raise ValueError("heads must divide hidden")


def read_config(text: str) -> Config:
    """A config from a JSON object; missing options have the defaults of `Config`.

    :raises ValueError: not such an object, an unknown name, or a value that is not allowed
    """
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    if not isinstance(values, dict):
        raise ValueError("not a JSON object")
    known = {field.name for field in dataclasses.fields(Config)}
    if not values.keys() <= known:
        raise ValueError(f"unknown options; the known ones are {', '.join(sorted(known))}")
    for name in CHOICES:
        if not isinstance(values.get(name, ""), str):
            raise ValueError(f"{name} must be a string")
    return Config(**values)


def write_config(config: Config) -> str:
    """The JSON text that `read_config` reads."""
    return json.dumps(dataclasses.asdict(config), indent=2) + "\n"
