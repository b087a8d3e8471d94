"""Trains a small GPT-2 from scratch on data/babylm_10M and saves it in the folder model.

Changes to the starter: shorter blocks, so that there are more steps; a higher learning rate with
warm-up and decay to zero; a smaller second beta of the optimizer; no dropout.
"""

import math
import os
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch.nn import functional
from transformers import GPT2Config, GPT2LMHeadModel

SEED = int(os.environ.get("MLAB_SEED", "0"))


@dataclass(frozen=True)
class Settings:
    """Model size and training settings."""

    layers: int
    heads: int
    width: int
    block: int  # tokens per block, the context length
    batch: int  # blocks per step
    learning_rate: float  # the highest
    most_steps: int  # training stops after one epoch in any case


# GPT-2 small, if there is a GPU and enough training text.
LARGE = Settings(12, 12, 768, 512, 8, 6e-4, 1_000_000)
SMALL = Settings(2, 2, 128, 128, 4, 2e-3, 200)
WARM_UP = 0.1
LARGE_TEXT_BYTES = 30_000_000

VALIDATION_BYTES = 100_000
PIECE_BYTES = 100_000
MOST_BYTES_PER_TOKEN = 6
END_OF_TEXT = "<|endoftext|>"
TRAIN, VALIDATION = Path("data/babylm_10M"), Path("data/babylm_dev")


def choose_settings(device: str) -> Settings:
    """The large model if it can be trained in reasonable time, else the small one."""
    text_bytes = sum(file.stat().st_size for file in TRAIN.iterdir())
    return LARGE if device == "cuda" and text_bytes >= LARGE_TEXT_BYTES else SMALL


def read_tokens(folder: Path, tokenizer: Tokenizer, most_bytes: int) -> torch.Tensor:
    """The first part of each file in a folder, each preceded by the end-of-text token.

    :param most_bytes: over all files, distributed in proportion to their sizes
    :returns: shape (tokens,)
    """
    files = sorted(folder.iterdir())
    share = min(1.0, most_bytes / sum(file.stat().st_size for file in files))
    end = tokenizer.token_to_id(END_OF_TEXT)
    tokens: list[int] = []
    for file in files:
        with file.open("rb") as opened:
            lines = opened.readlines(int(share * file.stat().st_size))
        pieces, piece = [], b""
        for line in lines:
            piece += line
            if len(piece) >= PIECE_BYTES:
                pieces.append(piece.decode(errors="replace"))
                piece = b""
        pieces.append(piece.decode(errors="replace"))
        tokens.append(end)
        for encoding in tokenizer.encode_batch(pieces, add_special_tokens=False):
            tokens += encoding.ids
    return torch.tensor(tokens)


def cut(tokens: torch.Tensor, block: int) -> torch.Tensor:
    """Blocks of `block` inputs plus one more target, shape (blocks, block + 1)."""
    count = (len(tokens) - 1) // block
    return torch.stack([tokens[n * block : (n + 1) * block + 1] for n in range(count)])


def loss_of(model: GPT2LMHeadModel, blocks: torch.Tensor) -> torch.Tensor:
    """Mean negative log-likelihood per token, in nats."""
    logits = model(blocks[:, :-1]).logits
    return functional.cross_entropy(logits.flatten(0, 1), blocks[:, 1:].flatten())


def make_model(settings: Settings, tokenizer: Tokenizer) -> GPT2LMHeadModel:
    end = tokenizer.token_to_id(END_OF_TEXT)
    config = GPT2Config(
        vocab_size=tokenizer.get_vocab_size(),
        n_positions=settings.block,
        n_embd=settings.width,
        n_layer=settings.layers,
        n_head=settings.heads,
        bos_token_id=end,
        eos_token_id=end,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
    )
    return GPT2LMHeadModel(config)


def train(model: GPT2LMHeadModel, blocks: torch.Tensor, settings: Settings, device: str) -> None:
    """One pass over the blocks in random order, for at most `settings.most_steps` steps."""
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=settings.learning_rate, betas=(0.9, 0.95), weight_decay=0.1
    )
    model.train()
    start = time.monotonic()
    batches = torch.randperm(len(blocks)).split(settings.batch)[: settings.most_steps]
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer,
        settings.learning_rate,
        total_steps=len(batches) + 1,
        pct_start=WARM_UP,
        cycle_momentum=False,
    )
    for step, chosen in enumerate(batches, start=1):
        loss = loss_of(model, blocks[chosen].to(device))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % max(1, len(batches) // 10) == 0:
            seconds = time.monotonic() - start
            print(f"step {step} of {len(batches)}: loss {loss.item():.4f}, {seconds:.0f} s")


@torch.no_grad()
def validate(model: GPT2LMHeadModel, blocks: torch.Tensor, device: str) -> float:
    """Perplexity per token."""
    model.eval()
    losses = [loss_of(model, block[None].to(device)).item() for block in blocks]
    return math.exp(sum(losses) / len(losses))


def main() -> None:
    torch.manual_seed(SEED)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    settings = choose_settings(device)
    tokenizer = Tokenizer.from_file("data/tokenizer.json")
    most_bytes = settings.most_steps * settings.batch * settings.block * MOST_BYTES_PER_TOKEN
    train_blocks = cut(read_tokens(TRAIN, tokenizer, most_bytes), settings.block)
    validation_blocks = cut(read_tokens(VALIDATION, tokenizer, VALIDATION_BYTES), settings.block)

    model = make_model(settings, tokenizer).to(device)
    print(f"{model.num_parameters():,} parameters, {len(train_blocks)} blocks, on {device}")
    train(model, train_blocks, settings, device)
    print(f"validation perplexity: {validate(model, validation_blocks, device):.4f}")

    model.save_pretrained("model")
    tokenizer.save("model/tokenizer.json")


if __name__ == "__main__":
    main()
