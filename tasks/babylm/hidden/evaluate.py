"""Asks one submitted model for the likelihood of the hidden text; grade.py runs it for each.

    python -I evaluate.py --model DIR --texts FILE

The last line of the output is a JSON object: `{"texts": [{source, bytes, nats, tokens,
given_tokens}]}`, or `{"rejected": {code, message}}`. Only trusted code runs here, but on files that
may hold anything: whatever they make of this process, the grader outlives it.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parent))

import torch
from language_models import LanguageModel, load_model
from tokenizers import Tokenizer

from mlab_task.problems import Rejected, plain

# If the second half of a block is replaced, the logits of its first half may differ by this much,
# because of rounding alone.
TOLERANCE = 1e-3


def encode(file: Path, texts: list[str], vocabulary: int) -> list[list[int]]:
    """Tokens of each text, in an encoding that identifies it uniquely.

    :raises Rejected: unreadable, out_of_range or wrong_output
    """
    try:
        tokenizer = Tokenizer.from_str(file.read_bytes().decode())
    except Exception as error:
        message = f"tokenizer.json can't be loaded: {plain(str(error), 200)}"
        raise Rejected("unreadable", message) from None
    if getattr(tokenizer.model, "dropout", None):
        raise Rejected("not_allowed", "tokenizer.json: dropout is not allowed")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    encoded = []
    for text in texts:
        tokens = tokenizer.encode(text, add_special_tokens=False).ids
        if any(token >= vocabulary for token in tokens):
            message = f"the tokenizer has tokens outside the vocabulary of {vocabulary:,}"
            raise Rejected("out_of_range", message)
        if tokenizer.decode(tokens, skip_special_tokens=False) != text:
            message = "the tokenizer is not lossless: decoding does not reproduce the hidden text"
            raise Rejected("wrong_output", message)
        encoded.append(tokens)
    return encoded


def ask(language: LanguageModel, tokens: torch.Tensor) -> torch.Tensor:
    """Next-token logits at each position; `tokens` has the shape (length,).

    :returns: shape (length, vocabulary)
    :raises Rejected: wrong_shape or not_finite
    """
    logits = language.model(tokens[None]).logits[0].float()
    if logits.shape != (len(tokens), language.vocabulary):
        raise Rejected("wrong_shape", f"the model's output has the shape {list(logits.shape)}")
    if not torch.isfinite(logits).all():
        raise Rejected("not_finite", "the model's output is not finite")
    return logits


def nats_of(language: LanguageModel, tokens: list[int], device: str) -> float:
    """Negative log-likelihood of a text: each token once, the first given `first_token`.

    A block holds at most `language.block` tokens. The first token of each later block is
    predicted from the last token of the previous block, and from nothing else.
    """
    row = torch.tensor([language.first_token, *tokens], device=device)
    total = 0.0
    for start in range(0, len(row) - 1, language.block):
        targets = row[start + 1 : start + 1 + language.block]
        logits = ask(language, row[start : start + len(targets)])
        likelihoods = torch.log_softmax(logits, dim=-1).gather(1, targets[:, None])
        total -= likelihoods.double().sum().item()
    return total


def check_direction(language: LanguageModel, tokens: list[int], device: str) -> None:
    """Checks that the prediction for a token does not depend on later tokens.

    :raises Rejected: wrong_output
    """
    row = torch.tensor([language.first_token, *tokens][: language.block], device=device)
    half = len(row) // 2
    if half == 0:
        return
    generator = torch.Generator().manual_seed(len(row))
    others = torch.randint(language.vocabulary, (len(row) - half,), generator=generator)
    changed = torch.cat([row[:half], others.to(device)])
    before, after = ask(language, row)[:half], ask(language, changed)[:half]
    scale = 1 + before.abs().max().item()
    if (before - after).abs().max().item() > TOLERANCE * scale:
        raise Rejected("wrong_output", "the model can see the tokens that it has to predict")


@torch.no_grad()
def evaluate(model: Path, texts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Negative log-likelihood of each text in nats, and its length in tokens of its tokenizer."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    language = load_model(model, device)
    encoded = encode(
        model / "tokenizer.json", [entry["text"] for entry in texts], language.vocabulary
    )
    check_direction(language, max(encoded, key=len), device)
    return [
        {
            "source": entry["source"],
            "bytes": len(entry["text"].encode()),
            "given_tokens": entry["tokens"],
            "tokens": len(tokens),
            "nats": nats_of(language, tokens, device),
        }
        for entry, tokens in zip(texts, encoded, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Evaluate one language model.")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--texts", type=Path, required=True)
    arguments = parser.parse_args()
    texts = json.loads(arguments.texts.read_text(encoding="utf-8"))["texts"]
    try:
        answer: dict[str, Any] = {"texts": evaluate(arguments.model, texts)}
    except Rejected as rejection:
        problem = rejection.problem
        answer = {"rejected": {"code": problem.code, "message": problem.message}}
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
