"""What a task's `hidden/sample.py` needs: its folder and its seed."""

import argparse
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Sample:
    """The folder for the synthetic downloads, and the seed of all random draws."""

    downloads: Path
    seed: int


def read_sample() -> Sample:
    """Parses the command line of sample.py."""
    parser = argparse.ArgumentParser(description="Make up a task's sources.")
    parser.add_argument("--downloads", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    return Sample(**vars(parser.parse_args()))
