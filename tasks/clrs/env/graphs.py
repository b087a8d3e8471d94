"""Random weighted graphs, and every step of the Floyd-Warshall algorithm on them.

The algorithm finds the shortest paths between all pairs of nodes. Graphs, intermediate results and
their conventions are those of `floyd_warshall` in CLRS-30 (Veličković et al. 2022).
"""

from dataclasses import dataclass

import numpy as np

Random = np.random.Generator | np.random.RandomState

# Keeps the square root of the product of two weights away from zero.
LEAST_SQUARE = 1e-3


@dataclass(frozen=True)
class Batch:
    """Solved graphs of one size. Hints have one entry for each node that paths may lead through.

    positions: (graphs, nodes), float32, ascending, from 0 to 1: they distinguish the nodes
    weights: (graphs, nodes, nodes), float32, symmetric, 0 where there is no edge
    edges: (graphs, nodes, nodes), float32, 1 where there is an edge and on the diagonal, else 0
    hint_pointers: (nodes, graphs, nodes, nodes), int64, predecessors before each step
    hint_distances: (nodes, graphs, nodes, nodes), float32, lengths of the paths before each step
    hint_reached: (nodes, graphs, nodes, nodes), float32, 1 where a path was found before each step
    pointers: (graphs, nodes, nodes), int64; entry [i, j] is the node before j on the shortest path
        from i to j, and i itself where there is no path
    """

    positions: np.ndarray
    weights: np.ndarray
    edges: np.ndarray
    hint_pointers: np.ndarray
    hint_distances: np.ndarray
    hint_reached: np.ndarray
    pointers: np.ndarray


def draw_weights(random: Random, nodes: int, probabilities: tuple[float, ...]) -> np.ndarray:
    """Edge weights of an undirected Erdős–Rényi graph. Shape (nodes, nodes), float64.

    Both directions of an edge are sampled with one of the probabilities; the edge exists if both
    do. Its weight is the geometric mean of two uniform numbers, hardly more than 1. A node
    may have an edge to itself.
    """
    probability = random.choice(probabilities)
    exists = random.binomial(1, probability, size=(nodes, nodes))
    drawn = random.uniform(low=0.0, high=1.0, size=(nodes, nodes))
    return exists * exists.T * np.sqrt(drawn * drawn.T + LEAST_SQUARE)


def draw_positions(random: Random, graphs: int, nodes: int) -> np.ndarray:
    """Ascending random numbers from [0, 1). Shape (graphs, nodes)."""
    return np.sort(random.uniform(size=(graphs, nodes)), axis=1)


def even_positions(_: Random, graphs: int, nodes: int) -> np.ndarray:
    """The numbers 0, 1/nodes, 2/nodes, … for each graph. Shape (graphs, nodes)."""
    return np.tile(np.arange(nodes) / nodes, (graphs, 1))


def draw_batch(
    random: Random,
    graphs: int,
    nodes: int,
    probabilities: tuple[float, ...],
    random_positions: bool = True,
) -> Batch:
    """Random solved graphs of one size."""
    weights = np.stack([draw_weights(random, nodes, probabilities) for _ in range(graphs)])
    draw = draw_positions if random_positions else even_positions
    return solve(weights, draw(random, graphs, nodes))


def solve(weights: np.ndarray, positions: np.ndarray) -> Batch:
    """Runs the algorithm (Cormen et al., Introduction to Algorithms, section 25.2).

    weights: (graphs, nodes, nodes), 0 where there is no edge
    positions: (graphs, nodes)
    """
    graphs, nodes = positions.shape
    edges = (weights != 0) | np.eye(nodes, dtype=bool)
    reached, distances = edges.copy(), weights.copy()
    pointers = np.tile(np.arange(nodes)[:, None], (graphs, 1, nodes))
    hints = []
    for middle in range(nodes):
        hints.append((pointers, distances, reached))
        first, second = distances[:, :, middle, None], distances[:, None, middle, :]
        passable = reached[:, :, middle, None] & reached[:, None, middle, :]
        better = passable & (~reached | (first + second < distances))
        pointers = np.where(better, pointers[:, None, middle, :], pointers)
        distances = np.where(better, first + second, distances)
        reached = reached | passable
    hint_pointers, hint_distances, hint_reached = map(np.stack, zip(*hints, strict=True))
    return Batch(
        positions=positions.astype(np.float32),
        weights=weights.astype(np.float32),
        edges=edges.astype(np.float32),
        hint_pointers=hint_pointers,
        hint_distances=hint_distances.astype(np.float32),
        hint_reached=hint_reached.astype(np.float32),
        pointers=pointers,
    )
