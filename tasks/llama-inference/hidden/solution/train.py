"""A language model with LLaMA's architecture predicts the token that follows a prompt of 128.

Only the logits of the last position are computed: the last layer and the head skip all others.
Projections of the same input are fused, rotary tables are cached, attention is torch's own.
"""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor

DATA = Path("data")
SEED = int(os.environ.get("MLAB_SEED", "0"))
BATCH = 4
BATCHES = 5


@dataclass(frozen=True)
class Settings:
    """Sizes of a model."""

    width: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int


SMALL = Settings(width=256, layers=6, heads=8, feed_forward=688, vocabulary=16_000)
LARGE = Settings(width=4096, layers=32, heads=32, feed_forward=11_008, vocabulary=32_000)
# The 6.7 billion weights of the large model take 27 GB.
MEMORY_FOR_LARGE = 40e9
# The large model has no file: its weights are sampled with this seed.
WEIGHTS_SEED = 7
EPSILON = 1e-5
ROTARY_BASE = 10_000.0


def choose() -> tuple[Settings, torch.device, torch.dtype]:
    """The large model, in 16 bits, on a GPU with enough memory, else the small one."""
    if not torch.cuda.is_available():
        return SMALL, torch.device("cpu"), torch.float32
    memory = torch.cuda.get_device_properties(0).total_memory
    if memory < MEMORY_FOR_LARGE:
        return SMALL, torch.device("cuda"), torch.float32
    return LARGE, torch.device("cuda"), torch.float16


SETTINGS, DEVICE, TYPE = choose()


@dataclass(frozen=True)
class Layer:
    """Weights, (outputs, inputs), with the scale of the preceding norm folded in."""

    query_key_value: Tensor
    output: Tensor
    gate_up: Tensor
    down: Tensor


@dataclass(frozen=True)
class Model:
    embedding: Tensor
    layers: list[Layer]
    head: Tensor


def load_model() -> Model:
    weights = load_file(DATA / "weights.safetensors") if SETTINGS == SMALL else draw_weights()

    def scaled(norm: str, *names: str) -> Tensor:
        joined = torch.cat([weights.pop(f"{name}.weight") for name in names])
        return joined.mul_(weights[f"{norm}.weight"]).to(DEVICE, TYPE)

    layers = []
    for number in range(SETTINGS.layers):
        block = f"blocks.{number}"
        attention, feed_forward = f"{block}.attention", f"{block}.feed_forward"
        layers.append(
            Layer(
                scaled(
                    f"{attention}_norm", *(f"{attention}.{n}" for n in ("query", "key", "value"))
                ),
                weights.pop(f"{attention}.output.weight").to(DEVICE, TYPE),
                scaled(f"{feed_forward}_norm", f"{feed_forward}.gate", f"{feed_forward}.up"),
                weights.pop(f"{feed_forward}.down.weight").to(DEVICE, TYPE),
            )
        )
    embedding = weights.pop("embedding.weight").to(DEVICE, TYPE)
    return Model(embedding, layers, scaled("norm", "head"))


def draw_weights() -> dict[str, Tensor]:
    """The weights of the large model, sampled in the order of the starter's parameters."""
    width, inner = SETTINGS.width, SETTINGS.feed_forward
    generator = torch.Generator(DEVICE).manual_seed(WEIGHTS_SEED)

    def draw(outputs: int, inputs: int) -> Tensor:
        return torch.empty(outputs, inputs, device=DEVICE).normal_(
            0, inputs**-0.5, generator=generator
        )

    weights = {"embedding.weight": draw(SETTINGS.vocabulary, width)}
    for number in range(SETTINGS.layers):
        block = f"blocks.{number}"
        for name in ("attention_norm", "feed_forward_norm"):
            weights[f"{block}.{name}.weight"] = torch.ones(width, device=DEVICE)
        for name in ("query", "key", "value", "output"):
            weights[f"{block}.attention.{name}.weight"] = draw(width, width)
        for name in ("gate", "up"):
            weights[f"{block}.feed_forward.{name}.weight"] = draw(inner, width)
        weights[f"{block}.feed_forward.down.weight"] = draw(width, inner)
    weights["norm.weight"] = torch.ones(width, device=DEVICE)
    weights["head.weight"] = draw(SETTINGS.vocabulary, width)
    return weights


MODELS: list[Model] = []
TABLES: dict[int, tuple[Tensor, Tensor]] = {}


def tables(length: int) -> tuple[Tensor, Tensor]:
    """Cosines and sines of the rotary embedding, (length, features of a head)."""
    if length not in TABLES:
        features = SETTINGS.width // SETTINGS.heads
        positions = torch.arange(length, device=DEVICE).float()
        rates = ROTARY_BASE ** (-torch.arange(0, features, 2, device=DEVICE).float() / features)
        angles = positions[:, None] * rates[None, :]
        cosine, sine = torch.cos(angles), torch.sin(angles)
        TABLES[length] = (
            torch.cat([cosine, cosine], dim=-1).to(TYPE),
            torch.cat([-sine, sine], dim=-1).to(TYPE),
        )
    return TABLES[length]


def rotate(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    return x * cosine + x.roll(x.shape[-1] // 2, dims=-1) * sine


def normed(x: Tensor) -> Tensor:
    return F.rms_norm(x, (x.shape[-1],), eps=EPSILON)


def feed_forward(x: Tensor, layer: Layer) -> Tensor:
    gate, up = F.linear(normed(x), layer.gate_up).chunk(2, dim=-1)
    return x + F.linear(F.silu(gate) * up, layer.down)


def run_layer(x: Tensor, layer: Layer, last: bool) -> Tensor:
    """One layer for all positions, or for the last one only."""
    batch, length, width = x.shape
    features = width // SETTINGS.heads
    cosine, sine = tables(length)
    projected = F.linear(normed(x), layer.query_key_value)
    query, key, value = projected.view(batch, length, 3, SETTINGS.heads, features).permute(
        2, 0, 3, 1, 4
    )
    key = rotate(key, cosine, sine)
    if last:
        query, cosine, sine, x = query[:, :, -1:], cosine[-1:], sine[-1:], x[:, -1:]
    query = rotate(query, cosine, sine)
    mixed = F.scaled_dot_product_attention(query, key, value, is_causal=not last)
    x = x + F.linear(mixed.transpose(1, 2).reshape(batch, -1, width), layer.output)
    return feed_forward(x, layer)


@torch.inference_mode()
def next_token_logits(tokens: np.ndarray) -> np.ndarray:
    """Logits of the token that follows each prompt.

    tokens: (prompts, length), int64, below the vocabulary's size

    Returns (prompts, vocabulary), float32.
    """
    if not MODELS:
        MODELS.append(load_model())
    (model,) = MODELS
    x = F.embedding(torch.tensor(tokens).to(DEVICE), model.embedding)
    for number, layer in enumerate(model.layers):
        x = run_layer(x, layer, last=number == len(model.layers) - 1)
    return F.linear(normed(x[:, -1]), model.head).float().cpu().numpy()


def main() -> None:
    prompts = np.load(DATA / "prompts.npy")
    order = np.random.default_rng(SEED).permutation(len(prompts))
    batches = [
        prompts[np.take(order, range(BATCH * number, BATCH * (number + 1)), mode="wrap")]
        for number in range(BATCHES + 1)
    ]

    start = time.perf_counter()
    first = next_token_logits(batches[0])
    print(f"device: {DEVICE}, width {SETTINGS.width}, {SETTINGS.layers} layers")
    print(f"first batch, with loading: {time.perf_counter() - start:.2f} s")
    print(f"likeliest next tokens: {first.argmax(axis=1).tolist()}")
    print(f"largest logits: {[round(logit, 3) for logit in first.max(axis=1).tolist()]}")

    times = []
    for batch in batches[1:]:
        start = time.perf_counter()
        next_token_logits(batch)
        times.append(time.perf_counter() - start)
    print(f"validation seconds per token: {np.median(times):.4f}")


if __name__ == "__main__":
    main()
