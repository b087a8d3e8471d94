"""Perplexity of hidden text under a submitted model, per token of the provided tokenizer.

    exp(negative log-likelihood of the whole text in nats / tokens of the provided tokenizer)

The likelihood of a text does not depend on how it is split into tokens, so a different tokenizer
is neither an advantage nor a disadvantage.
"""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parent))

from layout import check_layout

from mlab_task.grading import Arguments, HarnessError, Score, grade, read_arguments
from mlab_task.problems import Rejected, plain
from mlab_task.submission import Submission

MODEL = "model"
EVALUATION = Path(__file__).resolve().parent / "evaluate.py"
MOST_SECONDS = 900


def score(submission: Submission, arguments: Arguments) -> Score:
    model = submission.folder / MODEL
    check_layout(model)
    return summarise(likelihoods(model, arguments.private / "hidden_text.json"))


def likelihoods(model: Path, texts: Path) -> list[dict[str, Any]]:
    """Runs the evaluation in a separate process.

    :raises Rejected: with the code of the evaluation, timed_out or crashed
    """
    if not texts.is_file():
        raise HarnessError("there is no hidden text")
    command = [sys.executable, "-I", str(EVALUATION), "--model", str(model), "--texts", str(texts)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=MOST_SECONDS
        )
    except subprocess.TimeoutExpired:
        message = f"the model takes more than {MOST_SECONDS} s for the hidden text"
        raise Rejected("timed_out", message) from None
    lines = done.stdout.decode(errors="replace").strip().splitlines()
    if done.returncode != 0 or not lines:
        reason = plain(done.stderr.decode(errors="replace"), 300)
        raise Rejected("crashed", f"the model can't be evaluated: {reason}")
    answer = json.loads(lines[-1])
    if "rejected" in answer:
        raise Rejected(answer["rejected"]["code"], answer["rejected"]["message"])
    return answer["texts"]


def summarise(texts: list[dict[str, Any]]) -> Score:
    """:raises Rejected: out_of_range"""
    totals = {
        name: math.fsum(entry[name] for entry in texts)
        for name in ("nats", "bytes", "tokens", "given_tokens")
    }
    try:
        details = {
            "bits_per_byte": totals["nats"] / math.log(2) / totals["bytes"],
            "perplexity_per_submitted_token": math.exp(totals["nats"] / totals["tokens"]),
            "perplexity_of_source": {
                entry["source"]: math.exp(entry["nats"] / entry["given_tokens"]) for entry in texts
            },
        }
        return Score(math.exp(totals["nats"] / totals["given_tokens"]), details=details)
    except OverflowError:
        raise Rejected("out_of_range", "the perplexity overflows a 64-bit float") from None


def main() -> None:
    arguments = read_arguments()
    grade(lambda submission: score(submission, arguments), arguments)


if __name__ == "__main__":
    main()
