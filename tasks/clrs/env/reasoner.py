"""The network that imitates the Floyd-Warshall algorithm. A checkpoint must fit this class.

`Config` in config.py selects a variant. The default is the gated message-passing network with
triplets of Ibarz et al. 2022, "A Generalist Neural Algorithmic Learner". With `nodes` nodes the
network takes `nodes` - 1 steps. Each step reads the graph and the hints, which are the network's
own prediction of the state of the algorithm at that point, and predicts new ones.
"""

from dataclasses import dataclass

import torch
from config import Config
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

# Used as infinity to exclude nodes without an edge from a maximum.
FAR = 1e9
# Maximum number of values that are scored at once.
CACHED = 2**20


@dataclass(frozen=True)
class Hints:
    """The state of the algorithm before a step, or the network's prediction of it.

    pointers: (graphs, nodes, nodes, nodes), the last axis is the node pointed to
    distances, reached: (graphs, nodes, nodes)
    middle: (graphs, nodes), the node that paths may lead through from this step on

    As predictions, pointers, reached and middle are logits; as inputs, they are from 0 to 1.
    """

    pointers: Tensor
    distances: Tensor
    reached: Tensor
    middle: Tensor


def linear(inputs: int, outputs: int, spread: float | None = None) -> nn.Linear:
    """A layer with weights from a normal distribution, truncated at two deviations; zero bias.

    The standard deviation is 1/sqrt(inputs) unless another one is given.
    """
    layer = nn.Linear(inputs, outputs)
    spread = inputs**-0.5 if spread is None else spread
    nn.init.trunc_normal_(layer.weight, std=spread, a=-2 * spread, b=2 * spread)
    nn.init.zeros_(layer.bias)
    return layer


def first_hints(weights: Tensor, edges: Tensor) -> Hints:
    """The initial state of the algorithm: paths of single edges. Inputs: (graphs, nodes, nodes)."""
    graphs, nodes, _ = weights.shape
    itself = torch.eye(nodes, device=weights.device)
    pointers = itself[None, :, None, :].expand(graphs, nodes, nodes, nodes)
    return Hints(pointers, weights, edges, itself[0].expand(graphs, nodes))


def as_read(predicted: Hints, hard: bool) -> Hints:
    """Predicted hints as inputs of the next step."""
    if not hard:
        return Hints(
            predicted.pointers.softmax(dim=-1),
            predicted.distances,
            predicted.reached.sigmoid(),
            predicted.middle.softmax(dim=-1),
        )

    def decide(logits: Tensor) -> Tensor:
        return nn.functional.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)

    return Hints(
        decide(predicted.pointers),
        predicted.distances.detach(),
        (predicted.reached > 0).to(predicted.reached.dtype),
        decide(predicted.middle),
    )


def join(values: Tensor, how: str, where: Tensor | None = None) -> Tensor:
    """Aggregates the second axis. `where` is 1 for what counts and 0 elsewhere; None means all."""
    if how in ("max", "min"):
        sign = 1 if how == "max" else -1
        counted = values if where is None else values.masked_fill(where == 0, -sign * FAR)
        return counted.amax(dim=1) if how == "max" else counted.amin(dim=1)
    total = values.sum(dim=1) if where is None else (values * where).sum(dim=1)
    if how == "sum":
        return total
    return total / (values.shape[1] if where is None else where.sum(dim=1))


class EdgeDecoder(nn.Module):
    """One number, or `outputs` numbers, for each pair of nodes."""

    def __init__(self, node_width: int, edge_width: int, outputs: int) -> None:
        super().__init__()
        self.source = linear(node_width, outputs)
        self.target = linear(node_width, outputs)
        self.edge = linear(edge_width, outputs)

    def forward(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """(graphs, n, node_width), (graphs, n, n, edge_width) to (graphs, n, n, outputs)."""
        return self.source(nodes)[:, :, None] + self.target(nodes)[:, None] + self.edge(edges)


class PointerDecoder(nn.Module):
    """For each pair of nodes, a logit for each node that the pair may point to."""

    def __init__(self, node_width: int, edge_width: int, hidden: int, how: str) -> None:
        super().__init__()
        self.pair = EdgeDecoder(node_width, edge_width, hidden)
        self.pointed = linear(node_width, hidden)
        self.score = linear(hidden, 1) if how == "max" else None

    def forward(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """(graphs, n, node_width), (graphs, n, n, edge_width) to (graphs, n, n, n)."""
        pairs, pointed = self.pair(nodes, edges), self.pointed(nodes)
        if self.score is None:
            return torch.einsum("bijh,bkh->bijk", pairs, pointed) * pairs.shape[-1] ** -0.5
        # All maxima at once would need nodes³ · hidden values: a few rows at a time, recomputed
        # for the gradients.
        graphs, nodes, _, hidden = pairs.shape
        rows = pairs.split(max(1, CACHED // (graphs * nodes * nodes * hidden)), dim=1)
        if len(rows) > 1 and torch.is_grad_enabled():
            scores = [checkpoint(self._score, row, pointed, use_reentrant=False) for row in rows]
        else:
            scores = [self._score(row, pointed) for row in rows]
        return torch.cat(scores, dim=1)

    def _score(self, pairs: Tensor, pointed: Tensor) -> Tensor:
        return self.score(torch.maximum(pairs[..., None, :], pointed[:, None, None]))[..., 0]


class Processor(nn.Module):
    """One round of messages between nodes."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        hidden = config.hidden
        self.config = config
        self.sender = linear(2 * hidden, hidden)
        self.receiver = linear(2 * hidden, hidden)
        self.edge = linear(hidden, hidden)
        layers = config.message_layers
        self.layers = nn.ModuleList(linear(hidden, hidden) for _ in range(layers))
        if config.processor == "attention":
            self.attention = linear(hidden, config.heads)
        self.from_self = linear(2 * hidden, hidden)
        self.from_messages = linear(hidden, hidden)
        if config.layer_norm:
            self.norm = nn.LayerNorm(hidden)
        if config.gated:
            self.gate_self = linear(2 * hidden, hidden)
            self.gate_messages = linear(hidden, hidden)
            self.gate = linear(hidden, hidden)
            nn.init.constant_(self.gate.bias, -3)

    def forward(self, nodes: Tensor, edges: Tensor, linked: Tensor, state: Tensor) -> Tensor:
        """nodes, state: (graphs, n, hidden); edges: (graphs, n, n, hidden); linked: (graphs, n, n).

        Returns the new state.
        """
        both = torch.cat([nodes, state], dim=-1)
        messages = self.receiver(both)[:, None] + self.sender(both)[:, :, None] + self.edge(edges)
        for layer in self.layers:
            messages = layer(messages.relu())
        received = self._receive(messages, linked)
        new = (self.from_self(both) + self.from_messages(received)).relu()
        if self.config.layer_norm:
            new = self.norm(new)
        if not self.config.gated:
            return new
        gate = self.gate((self.gate_self(both) + self.gate_messages(received)).relu()).sigmoid()
        return new * gate + state * (1 - gate)

    def _receive(self, messages: Tensor, linked: Tensor) -> Tensor:
        """(graphs, sender, receiver, hidden) to (graphs, receiver, hidden)."""
        if self.config.processor == "attention":
            shares = self.attention(nn.functional.leaky_relu(messages, 0.2)).softmax(dim=1)
            return (
                (messages.unflatten(-1, (self.config.heads, -1)) * shares[..., None])
                .sum(dim=1)
                .flatten(-2)
            )
        everyone = self.config.processor == "all_pairs"
        return join(messages, self.config.aggregator, None if everyone else linked[..., None])


class Triplets(nn.Module):
    """Edge features aggregated from all triplets of nodes (Dudzik & Veličković 2022)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.how = config.triplet_aggregator
        self.nodes = linear(2 * config.hidden, 3 * config.triplets)
        self.edges = linear(config.hidden, 3 * config.triplets)
        self.out = linear(config.triplets, config.hidden)

    def forward(self, nodes: Tensor, edges: Tensor, state: Tensor) -> Tensor:
        """Shapes as in Processor. Returns (graphs, n, n, hidden)."""
        i, j, k = self.nodes(torch.cat([nodes, state], dim=-1)).chunk(3, dim=-1)
        ij, ik, jk = self.edges(edges).chunk(3, dim=-1)
        triplets = (ij + i[:, :, None] + j[:, None])[:, :, :, None] + (
            (ik + k[:, None])[:, :, None] + jk[:, None]
        )
        return self.out(join(triplets, self.how)).relu()


class Reasoner(nn.Module):
    """Predicts shortest paths as predecessor pointers; see the top of this file."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        hidden = config.hidden
        self.config = config
        reads = config.hints == "encoded"
        # Nodes: position; middle. Edges: weight, edge; distance, reached, pointers from both sides.
        self.encode_nodes = linear(1, hidden)
        self.encode_edges = linear(2, hidden, spread=1)
        if reads:
            self.encode_middle = linear(1, hidden)
            self.encode_distance = linear(1, hidden, spread=hidden**-0.5)
            self.encode_paths = linear(3, hidden, spread=1)
        self.processor = Processor(config)
        self.triplets = Triplets(config) if config.triplets else None
        node_width, edge_width = 3 * hidden, (2 if config.triplets else 1) * hidden
        how = config.pointer_decoder
        self.decode_pointers = PointerDecoder(node_width, edge_width, hidden, how)
        if config.hints != "none":
            self.decode_hint_pointers = PointerDecoder(node_width, edge_width, hidden, how)
            self.decode_distance = EdgeDecoder(node_width, edge_width, 1)
            self.decode_reached = EdgeDecoder(node_width, edge_width, 1)
            self.decode_middle = linear(node_width, 1)

    def forward(
        self, positions: Tensor, weights: Tensor, edges: Tensor
    ) -> tuple[Tensor, list[Hints]]:
        """Inputs as in `graphs.Batch`.

        Returns the logits of the pointers, (graphs, nodes, nodes, nodes), and the predicted hints
        before the second, third, … step of the algorithm: none if hints are not predicted, and
        none without gradients, since only training needs them.
        """
        graphs, nodes = positions.shape
        state = positions.new_zeros(graphs, nodes, self.config.hidden)
        hints = first_hints(weights, edges)
        predicted: list[Hints] = []
        steps = max(1, nodes - 1)
        for step in range(steps):
            node_features, edge_features = self._encode(positions, weights, edges, hints)
            new = state
            for _ in range(self.config.message_passing_steps):
                old, new = new, self.processor(node_features, edge_features, edges, new)
            seen = [edge_features]
            if self.triplets is not None:
                seen.append(self.triplets(node_features, edge_features, old))
            decoded_nodes = torch.cat([node_features, state, new], dim=-1)
            decoded_edges = torch.cat(seen, dim=-1)
            state = new
            reads = self.config.hints == "encoded" and step + 1 < steps
            if reads or (self.config.hints != "none" and torch.is_grad_enabled()):
                predicted.append(self._predict_hints(decoded_nodes, decoded_edges))
            if reads:
                hints = as_read(predicted[-1], self.config.feedback == "hard")
            if not torch.is_grad_enabled():
                predicted.clear()
        return self.decode_pointers(decoded_nodes, decoded_edges), predicted

    def _encode(
        self, positions: Tensor, weights: Tensor, edges: Tensor, hints: Hints
    ) -> tuple[Tensor, Tensor]:
        """(graphs, nodes, hidden) and (graphs, nodes, nodes, hidden)."""
        nodes = self.encode_nodes(positions[..., None])
        pairs = self.encode_edges(torch.stack([weights, edges], dim=-1))
        if self.config.hints == "encoded":
            nodes = nodes + self.encode_middle(hints.middle[..., None])
            paths = [hints.reached, hints.pointers.mean(dim=1), hints.pointers.mean(dim=2)]
            pairs = pairs + self.encode_distance(hints.distances[..., None])
            pairs = pairs + self.encode_paths(torch.stack(paths, dim=-1))
        return nodes, pairs

    def _predict_hints(self, nodes: Tensor, edges: Tensor) -> Hints:
        return Hints(
            self.decode_hint_pointers(nodes, edges),
            self.decode_distance(nodes, edges)[..., 0],
            self.decode_reached(nodes, edges)[..., 0],
            self.decode_middle(nodes)[..., 0],
        )
