"""Makes up short tickets of a city's help desk with seven departments; 1,100 tickets are hidden."""

import json
import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np
import pandas as pd

from mlab_task.preparing import read_folders

TRAIN, TEST = 1700, 1100
SHARES = {"waste": 0.29, "roads": 0.25, "water": 0.16, "parks": 0.12, "permits": 0.09, "noise": 0.06, "lighting": 0.03}
WORDS = {  # things, then what is wrong with them
    "waste": (["bin", "rubbish", "recycling", "bottle bank", "collection", "garbage truck", "compost bin", "sofa"],
              ["not emptied", "overflowing", "missed again", "left on the pavement", "smells", "dumped here"]),
    "roads": (["pothole", "road", "asphalt", "kerb", "crossing", "traffic sign", "cycle lane", "manhole"],
              ["cracked", "sunken", "damaged my tyre", "is blocked", "sign bent over", "getting deeper"]),
    "water": (["pipe", "hydrant", "drain", "tap", "water meter", "sewer", "gully"],
              ["leaking", "no pressure", "tastes odd", "is blocked", "burst", "brown colour", "smells"]),
    "parks": (["bench", "playground", "hedge", "tree", "lawn", "swing", "fountain"],
              ["overgrown", "fallen branch", "broken", "needs mowing", "leaking", "has splinters"]),
    "permits": (["parking permit", "dog licence", "market stall", "building plan", "resident card", "street party"],
                ["how do I apply", "still waiting", "renewal rejected", "form does not load", "what does it cost"]),
    "noise": (["music", "building site", "bar", "leaf blower", "dog", "garbage truck", "street party"],
              ["after midnight", "too loud", "every night", "can't sleep", "since 5 am", "barking"]),
    "lighting": (["lamp", "street light", "lamp post", "bulb", "traffic light", "light in the park"],
                 ["flickering", "out for a week", "dark", "on all day", "broken", "bent over"]),
}
PLACES = ["mill lane", "station road", "the harbour", "oak street", "market square", "school hill", "the river park",
          "bin lane", "lamp street", "fountain square", "tree avenue", "drain hill", "church road", "the old bridge"]
OPEN = ["hello", "hi", "good morning", "dear team", "again", "please help", "third time", "urgent", "fyi", "sorry to bother"]
CLOSE = ["thanks", "please fix", "regards", "asap", "can someone look", "it is dangerous for kids", "has been like this for days",
         "I pay taxes", "number 12", "photo attached", "my neighbour agrees", "call me back"]
ASIDE = ["while walking the dog", "next to the bench", "near the bottle bank", "by the bar", "under the tree",
         "opposite the playground", "beside the hydrant", "on the way to the crossing", "under the street light"]

folders = read_folders()
rng = np.random.default_rng(90817)


def pick(items):
    return items[rng.integers(len(items))]


def typo(word):
    if len(word) < 4 or rng.random() > 0.17:
        return word
    at = int(rng.integers(1, len(word) - 1))
    kind = rng.integers(3)
    if kind == 0:
        return word[:at] + word[at + 1 :]
    if kind == 1:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + word[at] + word[at:]


def ending(word):
    return word + "s" if len(word) > 3 and rng.random() < 0.12 and not word.endswith("s") else word


def write(department):
    things, wrongs = WORDS[department]
    core = [pick(things), pick(wrongs)]
    if rng.random() < 0.15:
        core[rng.integers(2)] = pick(["problem", "something is wrong", "not working", "complaint"])
    if rng.random() < 0.5:
        core.reverse()
    if rng.random() < 0.65:
        core.insert(int(rng.integers(1, 3)), pick(["at ", "in ", "near "]) + pick(PLACES))
    parts = ([pick(OPEN)] if rng.random() < 0.45 else []) + core
    if rng.random() < 0.35:
        parts.append(pick(ASIDE))
    if rng.random() < 0.5:
        parts.append(pick(CLOSE))
    text = " ".join(typo(ending(word)) for word in " ".join(parts).split())
    if rng.random() < 0.3:
        text = text.upper() if rng.random() < 0.25 else text.capitalize()
    return text + pick(["", "", ".", "!", "!!", "?"])


names, shares = list(SHARES), list(SHARES.values())
rows, seen = [], set()
while len(rows) < TRAIN + TEST:
    department = names[rng.choice(len(names), p=shares)]
    text = write(department)
    if text.lower() in seen:
        continue
    seen.add(text.lower())
    if rng.random() < 0.03:  # sent to the wrong desk
        department = pick(names)
    rows.append((text, department))

ids = [f"t{n}" for n in rng.permutation(80000)[: len(rows)] + 10000]
with open(folders.public / "tickets.jsonl", "w", encoding="utf-8", newline="") as file:
    for key, (text, department) in zip(ids[:TRAIN], rows[:TRAIN], strict=True):
        file.write(json.dumps({"id": key, "text": text, "department": department}) + "\n")
test = pd.DataFrame({"id": ids[TRAIN:], "text": [text for text, _ in rows[TRAIN:]]})
test.to_csv(folders.public / "new_tickets.csv", index=False, lineterminator="\n")
labels = pd.DataFrame({"id": ids[TRAIN:], "department": [department for _, department in rows[TRAIN:]]})
labels.to_csv(folders.private / "labels.csv", index=False, lineterminator="\n")
