"""Prompts from WikiText's test split, and random weights for the small model.

Lines are tokenized by a byte-level BPE that is trained on the same text. Lines of at least 128
tokens are prompts: every fourth is public (its first 128 tokens), the others are for grading.
"""

import json
import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np
from safetensors.numpy import save
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from mlab_task.preparing import read_folders

TEXT = "wikitext-2-raw-v1/wikitext-2-raw/wiki.test.raw"
PROMPT = 128
SHOWN_OF = 4
# The sizes of the small model, as in env/train.py.
WIDTH, LAYERS, FEED_FORWARD, VOCABULARY = 256, 6, 688, 16_000
WEIGHTS_SEED = 7


def main() -> None:
    folders = read_folders()
    lines = (folders.downloads / TEXT).read_text(encoding="utf-8").splitlines()
    tokenizer = train_tokenizer(lines)
    (folders.public / "tokenizer.json").write_text(tokenizer.to_str(), encoding="utf-8")

    encoded = [np.array(one.ids, dtype=np.int64) for one in tokenizer.encode_batch(lines)]
    prompts = [tokens for tokens in encoded if len(tokens) >= PROMPT]
    shown = prompts[::SHOWN_OF]
    kept = [tokens for place, tokens in enumerate(prompts) if place % SHOWN_OF != 0]
    np.save(folders.public / "prompts.npy", np.stack([tokens[:PROMPT] for tokens in shown]))
    np.save(folders.private / "tokens.npy", np.concatenate(kept))
    lengths = [len(tokens) for tokens in kept]
    (folders.private / "lengths.json").write_text(json.dumps(lengths))
    (folders.public / "weights.safetensors").write_bytes(save(draw_weights()))


def train_tokenizer(lines: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(lines, trainer)
    return tokenizer


def draw_weights() -> dict[str, np.ndarray]:
    """Normally distributed weights that preserve the scale of activations; all norms are 1."""
    generator = np.random.default_rng(WEIGHTS_SEED)

    def draw(outputs: int, inputs: int) -> np.ndarray:
        return generator.standard_normal((outputs, inputs), dtype="f4") / np.float32(inputs**0.5)

    weights = {"embedding.weight": draw(VOCABULARY, WIDTH)}
    for layer in range(LAYERS):
        block = f"blocks.{layer}"
        for name in ("attention_norm", "feed_forward_norm"):
            weights[f"{block}.{name}.weight"] = np.ones(WIDTH, dtype="f4")
        for name in ("query", "key", "value", "output"):
            weights[f"{block}.attention.{name}.weight"] = draw(WIDTH, WIDTH)
        for name in ("gate", "up"):
            weights[f"{block}.feed_forward.{name}.weight"] = draw(FEED_FORWARD, WIDTH)
        weights[f"{block}.feed_forward.down.weight"] = draw(WIDTH, FEED_FORWARD)
    weights["norm.weight"] = np.ones(WIDTH, dtype="f4")
    weights["head.weight"] = draw(VOCABULARY, WIDTH)
    return weights


if __name__ == "__main__":
    main()
