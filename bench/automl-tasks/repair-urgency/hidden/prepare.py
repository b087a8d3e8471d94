"""Makes up repair requests of tenants and how urgent caretakers found them."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np

from mlab_task.preparing import read_folders, write_hidden_test

MESSAGES, HIDDEN = 3300, 1100
PROBLEMS = {  # what is said, by urgency
    70: ["smell of gas in the {room}", "water is pouring through the ceiling of the {room}", "the pipe in the {room} burst",
         "sparks come out of the socket in the {room}", "smoke from the fuse box", "carbon monoxide alarm went off"],
    50: ["no heating at all", "boiler shows an error and stays cold", "front door does not lock anymore", "no electricity in the {room}",
         "the toilet is blocked and overflows", "lift stuck with the door half open", "no hot water"],
    30: ["radiator in the {room} only lukewarm", "tap in the {room} drips", "window in the {room} does not shut properly",
         "mould behind the wardrobe in the {room}", "washing machine room is flooded a bit", "mouse droppings in the {room}"],
    12: ["door of the {room} squeaks", "paint is peeling in the {room}", "light bulb in the stairwell is out", "a tile in the {room} is loose",
         "letter box key is bent", "bike shed roof has a small dent", "doorbell is too quiet"],
}
EXTRAS = [(18, "my baby is six weeks old"), (16, "my mother is 84 and lives with me"), (14, "it is getting worse every hour"),
          (12, "since last night"), (-14, "no hurry"), (-12, "whenever you are in the area"), (-9, "it has been like this for years"),
          (-16, "I fixed it for now with tape"), (0, "I am at home after five"), (0, "the neighbours have it too"),
          (0, "please ring twice"), (0, "I wrote to you before"), (9, "I cannot sleep there"), (-22, "update: it stopped by itself"),
          (11, "I have asthma"), (0, "the key is with Mrs Okafor")]
ROOMS = {"kitchen": 2, "bathroom": 2, "bedroom": 1, "hall": 0, "cellar": -6, "balcony room": -5, "nursery": 9}
HELLOS = ["Hello, ", "Hi, ", "Dear caretaker, ", "Good morning. ", "", "", "URGENT!! ", "Hi again, "]
BYES = ["", "", " Thanks", " Thank you very much!", " Regards, flat {n}", " Please help!!", " cheers", "?"]

folders = read_folders()
rng = np.random.default_rng(5)


def pick(items):
    return items[rng.integers(len(items))]


def misspell(text):
    letters = list(text)
    for i in range(1, len(letters) - 1):
        if rng.random() < 0.015:
            letters[i], letters[i + 1] = letters[i + 1], letters[i]
    return "".join(letters)


rows, seen = [], set()
while len(rows) < MESSAGES:
    level = int(rng.choice(list(PROBLEMS), p=[0.14, 0.26, 0.33, 0.27]))
    room = pick(list(ROOMS))
    problem = pick(PROBLEMS[level])
    urgency = level + (ROOMS[room] if "{room}" in problem else 0)
    parts = [problem.format(room=room)]
    if rng.random() < 0.15:
        parts[0] = "not an emergency, but " + parts[0]
        urgency -= 10
    for place in rng.permutation(len(EXTRAS))[: rng.choice([0, 1, 2, 3], p=[0.2, 0.35, 0.3, 0.15])]:
        urgency += EXTRAS[place][0]
        parts.append(EXTRAS[place][1])
    if rng.random() < 0.3:
        parts = parts[::-1]
    month = int(rng.integers(1, 13))
    if "heating" in problem or "boiler" in problem or "radiator" in problem:
        urgency += 15 if month in (11, 12, 1, 2) else -15
    text = pick(HELLOS) + pick([", ", ". ", " - ", " and "]).join(parts) + pick(BYES).format(n=rng.integers(1, 90))
    text = misspell(text)
    text = text.lower() if rng.random() < 0.25 else text.upper() if rng.random() < 0.05 else text
    if text.lower() in seen:
        continue
    seen.add(text.lower())
    sent = f"2023-{month:02d}-{rng.integers(1, 29):02d} {rng.integers(6, 23):02d}:{rng.integers(60):02d}"
    rows.append([f"M{len(rows):04d}", sent, text, int(np.clip(round(urgency + rng.normal(0, 11)), 0, 100))])
header = ["msg", "sent", "text", "urgency"]
write_hidden_test(folders, header, rows[:HIDDEN], "msg", "urgency")
lines = ["\t".join(map(str, row)) + "\n" for row in [header, *rows[HIDDEN:]]]
(folders.public / "messages.tsv").write_text("".join(lines), encoding="utf-8")
