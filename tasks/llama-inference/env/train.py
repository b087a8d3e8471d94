"""A language model with LLaMA's architecture predicts the token that follows a prompt of 128.

Make `next_token_logits` as fast as you can; its results must stay the same.
"""

import math
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

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


def choose() -> tuple[Settings, torch.device]:
    """The large model on a GPU with enough memory, else the small one."""
    if not torch.cuda.is_available():
        return SMALL, torch.device("cpu")
    memory = torch.cuda.get_device_properties(0).total_memory
    return (LARGE if memory >= MEMORY_FOR_LARGE else SMALL), torch.device("cuda")


SETTINGS, DEVICE = choose()


class RootMeanSquareNorm(nn.Module):
    """RMSNorm: divides by the root mean square, then scales each feature (Zhang, Sennrich 2019)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        mean_square = x.pow(2).mean(dim=-1, keepdim=True)
        return self.weight * x / torch.sqrt(mean_square + EPSILON)


def rotate(x: Tensor) -> Tensor:
    """Rotates pairs of features by angles that grow with the position (Su et al. 2021).

    x: (batch, heads, length, features); feature i and i + features / 2 are a pair
    """
    length, features = x.shape[-2:]
    positions = torch.arange(length, device=x.device).float()
    rates = ROTARY_BASE ** (-torch.arange(0, features, 2, device=x.device).float() / features)
    angles = positions[:, None] * rates[None, :]
    first, second = x[..., : features // 2], x[..., features // 2 :]
    cosine, sine = torch.cos(angles), torch.sin(angles)
    return torch.cat([first * cosine - second * sine, first * sine + second * cosine], dim=-1)


class Attention(nn.Module):
    """Causal attention: every position attends to itself and to those before it."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        width = settings.width
        self.heads = settings.heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.output = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        features = width // self.heads

        def split(projected: Tensor) -> Tensor:
            return projected.view(batch, length, self.heads, features).transpose(1, 2)

        query, key = rotate(split(self.query(x))), rotate(split(self.key(x)))
        value = split(self.value(x))
        scores = query @ key.transpose(-2, -1) / math.sqrt(features)
        mask = torch.full((batch, self.heads, length, length), float("-inf"), device=x.device)
        scores = scores + torch.triu(mask, diagonal=1)
        weights = torch.softmax(scores, dim=-1)
        mixed = (weights @ value).transpose(1, 2).reshape(batch, length, width)
        return self.output(mixed)


class FeedForward(nn.Module):
    """A gated feed-forward layer (SwiGLU, Shazeer 2020)."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.gate = nn.Linear(settings.width, settings.feed_forward, bias=False)
        self.up = nn.Linear(settings.width, settings.feed_forward, bias=False)
        self.down = nn.Linear(settings.feed_forward, settings.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        gate = self.gate(x)
        return self.down(gate * torch.sigmoid(gate) * self.up(x))


class Block(nn.Module):
    """Attention and feed-forward, each with pre-normalisation and a residual connection."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.attention_norm = RootMeanSquareNorm(settings.width)
        self.attention = Attention(settings)
        self.feed_forward_norm = RootMeanSquareNorm(settings.width)
        self.feed_forward = FeedForward(settings)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x))
        return x + self.feed_forward(self.feed_forward_norm(x))


class Llama(nn.Module):
    """The decoder of Touvron et al. 2023."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.embedding = nn.Embedding(settings.vocabulary, settings.width)
        self.blocks = nn.ModuleList([Block(settings) for _ in range(settings.layers)])
        self.norm = RootMeanSquareNorm(settings.width)
        self.head = nn.Linear(settings.width, settings.vocabulary, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits of the token after every position, (batch, length, vocabulary)."""
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def load_model() -> Llama:
    """The model with its weights, in 32-bit precision, on its device."""
    if SETTINGS == SMALL:
        model = Llama(SMALL)
        model.load_state_dict(load_file(DATA / "weights.safetensors"))
        return model.to(DEVICE)
    with torch.device("meta"):
        model = Llama(LARGE)
    model = model.to_empty(device=DEVICE)
    # Each weight in the order in which the model lists its parameters.
    generator = torch.Generator(DEVICE).manual_seed(WEIGHTS_SEED)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.fill_(1)
            else:
                parameter.normal_(0, parameter.shape[1] ** -0.5, generator=generator)
    return model


MODELS: list[Llama] = []


def next_token_logits(tokens: np.ndarray) -> np.ndarray:
    """Logits of the token that follows each prompt.

    tokens: (prompts, length), int64, below the vocabulary's size

    Returns (prompts, vocabulary), float32.
    """
    if not MODELS:
        MODELS.append(load_model())
    (model,) = MODELS
    logits = model(torch.tensor(tokens).to(DEVICE))
    return logits[:, -1].detach().cpu().numpy()


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
    # These two must not change.
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
