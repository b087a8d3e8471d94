"""Made-up messages to a town council, for three offices: 1,200 public, 1,000 hidden."""

import os
import random
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import read_folders, write_hidden_test, write_table

TRAIN, TEST = 1200, 1000
THINGS = {
    "streets": ["pothole", "street lamp", "pavement", "kerb", "traffic light", "zebra crossing", "road sign", "cycle lane"],
    "parks": ["playground", "hedge", "oak tree", "flower bed", "bench", "duck pond", "lawn", "fountain"],
    "waste": ["brown bin", "glass container", "bulky waste", "recycling bag", "bin lorry", "skip", "compost", "rubbish"],
}  # fmt: skip
TROUBLES = {
    "streets": ["is broken since monday", "floods when it rains", "makes cars swerve", "has been dark for weeks", "is worn out"],
    "parks": ["is overgrown", "lost a big branch", "is dry and brown", "needs a new coat of paint", "is full of wasps"],
    "waste": ["was not emptied", "smells awful", "is overflowing", "was left behind again", "attracts rats"],
}  # fmt: skip
SHARED = [
    "has not been looked after", "is dangerous for children", "looks terrible", "is blocked", "has to be moved",
    "is full of leaves", "is covered in mud",
]  # fmt: skip
PLACES = ["in mill lane", "near the school", "by the station", "at the corner of high street", "behind the church",
          "outside number 14", "next to the library", "along the canal"]  # fmt: skip
OPENINGS = ["hello", "dear council", "to whom it may concern", "good morning", "i wrote before", "second letter now", ""]
CLOSINGS = ["thank you", "please send someone", "when will this be done", "i pay my council tax", "kind regards", ""]
ASIDES = ["it is not about the {}", "the {} is fine by the way", "you did fix the {} last year", "i parked beside the {}"]
LEAN = {"streets": 0.8, "parks": 1.0, "waste": 1.2}


def typo(text: str, rng: random.Random) -> str:
    place = rng.randrange(1, len(text) - 1)
    kind = rng.randrange(3)
    if kind == 0:
        return text[:place] + text[place + 1 :]
    if kind == 1:
        return text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    return text[:place] + text[place] + text[place:]


def letter(office: str, rng: random.Random) -> str:
    others = [each for each in THINGS if each != office]
    # Some letters go to the office of another thing's trouble: the matter counts, not the thing.
    thing = rng.choice(THINGS[office if rng.random() < 0.82 else rng.choice(others)])
    trouble = rng.choice(TROUBLES[office] if rng.random() < 0.55 * LEAN[office] else SHARED)
    parts = [f"the {thing} {rng.choice(PLACES)} {trouble}"]
    if rng.random() < 0.45:
        parts.insert(rng.randrange(2), rng.choice(ASIDES).format(rng.choice(THINGS[rng.choice(others)])))
    parts = [rng.choice(OPENINGS), *parts, rng.choice(CLOSINGS)]
    if rng.random() < 0.5:
        parts.insert(1, f"my neighbour {rng.choice(['mr', 'mrs'])} {rng.choice(['hart', 'singh', 'olsen', 'reid'])} agrees")
    words = " . ".join(part for part in parts if part).split()
    words = [typo(word, rng) if len(word) > 3 and rng.random() < 0.12 else word for word in words]
    if rng.random() < 0.1:
        words = [word.upper() for word in words]
    return " ".join(words).replace(" .", ".")


def main() -> None:
    folders = read_folders()
    rng = random.Random(909)
    found: dict[str, str] = {}
    while len(found) < TRAIN + TEST:
        office = rng.choices(list(THINGS), [0.42, 0.25, 0.33])[0]
        found.setdefault(letter(office, rng), office)
    rows = [[number, text, office] for number, (text, office) in enumerate(found.items(), 1001)]
    header = ["letter", "text", "office"]
    write_table(folders.public / "train.csv", header, rows[:TRAIN])
    write_hidden_test(folders, header, rows[TRAIN:], "letter", "office")


if __name__ == "__main__":
    main()
