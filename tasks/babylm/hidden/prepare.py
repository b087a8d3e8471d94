"""Text for a language model: the training and development parts, and a hidden piece of the test.

The layout of BabyLM 2023: `babylm_10M/<source>.train`, `babylm_dev/<source>.dev` and
`babylm_test/<source>.test`. The provided tokenizer is trained on the training text.
"""

import json
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from mlab_task.preparing import read_folders

VOCABULARY = 8_192
END_OF_TEXT = "<|endoftext|>"
# Over all sources: as much as a model of the size of GPT-2 small reads in about two minutes on one
# core.
HIDDEN_BYTES = 64 * 1024


def copy_part(part: Path, public: Path) -> list[Path]:
    """Copies the text files of one part; returns where they are now, sorted by name.

    :raises FileNotFoundError: the part holds no text
    """
    folder = public / part.name
    folder.mkdir()
    files = sorted(file for file in part.iterdir() if file.suffix in (".train", ".dev"))
    if not files:
        raise FileNotFoundError(f"{part}: no text files")
    return [Path(shutil.copyfile(file, folder / file.name)) for file in files]


def make_tokenizer(files: list[Path]) -> Tokenizer:
    """Byte-level byte-pair encoding: every text can be encoded, and decoding reproduces it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        min_frequency=2,
        special_tokens=[END_OF_TEXT],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train([str(file) for file in files], trainer)
    return tokenizer


def middle_of(text: str, most_bytes: int) -> str:
    """Whole lines starting at the middle of a text, up to `most_bytes` bytes or its end."""
    lines = text.splitlines(keepends=True)
    start, total, chosen = len(lines) // 2, 0, []
    for line in lines[start:]:
        total += len(line.encode())
        if total > most_bytes and chosen:
            break
        # A single line can exceed the limit: some are whole articles.
        chosen.append(line.encode()[:most_bytes].decode(errors="ignore"))
    return "".join(chosen)


def hide_text(part: Path, tokenizer: Tokenizer) -> dict[str, object]:
    """What the grader needs: a piece of each source, and its length in provided tokens."""
    files = sorted(part.glob("*.test"))
    texts = []
    for file in files:
        whole = file.read_bytes().decode(errors="replace")
        text = middle_of(whole, HIDDEN_BYTES // len(files))
        tokens = len(tokenizer.encode(text, add_special_tokens=False).ids)
        texts.append({"source": file.stem, "text": text, "tokens": tokens})
    if not any(entry["tokens"] for entry in texts):
        raise FileNotFoundError(f"{part}: no text to hide")
    return {"texts": texts}


def main() -> None:
    folders = read_folders()
    data = folders.downloads / "babylm_data" / "babylm_data"
    training = copy_part(data / "babylm_10M", folders.public)
    copy_part(data / "babylm_dev", folders.public)
    tokenizer = make_tokenizer(training)
    tokenizer.save(str(folders.public / "tokenizer.json"))
    hidden = hide_text(data / "babylm_test", tokenizer)
    (folders.private / "hidden_text.json").write_text(json.dumps(hidden), encoding="utf-8")


if __name__ == "__main__":
    main()
