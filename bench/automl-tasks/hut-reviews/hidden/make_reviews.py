"""Wrote reviews.jsonl once: 2,600 invented guestbook entries about mountain huts, with ratings. Not run by mlab."""

import json
import random
from pathlib import Path

draw = random.Random(31337)
THEMES = {
    "food": (["soup", "goulash", "dumplings", "breakfast", "cake", "dinner", "pasta", "coffee"], 1.0),
    "beds": (["bunks", "mattresses", "dormitory", "blankets", "our room", "pillows"], 0.9),
    "staff": (["warden", "staff", "hut team", "hosts", "girl at the counter", "guardian"], 1.2),
    "wash": (["toilets", "showers", "washroom", "sinks", "drying room"], 0.8),
    "view": (["view", "sunset from the terrace", "location", "panorama", "terrace"], 0.5),
    "price": (["prices", "half board", "bill", "price of a shower"], 0.6),
    "path": (["way up", "path", "signposts", "last climb"], 0.15),
}
GOOD = {
    "food": ["delicious", "tasty", "hot and plentiful", "homemade", "excellent"], "beds": ["comfortable", "clean", "warm", "cosy", "quiet"],
    "staff": ["friendly", "helpful", "charming", "patient", "welcoming"], "wash": ["spotless", "clean", "modern", "warm"],
    "view": ["stunning", "breathtaking", "magnificent", "unforgettable"], "price": ["fair", "reasonable", "low for this altitude"],
    "path": ["easy", "well marked", "lovely", "varied"],
}
BAD = {
    "food": ["cold", "tasteless", "burnt", "from a tin", "greasy"], "beds": ["damp", "dirty", "noisy", "lumpy", "freezing"],
    "staff": ["rude", "unfriendly", "stressed", "slow", "grumpy"], "wash": ["filthy", "frozen", "broken", "smelly"],
    "view": ["hidden by scaffolding", "spoiled by a crane", "disappointing"], "price": ["outrageous", "steep", "cheeky"],
    "path": ["steep", "icy", "badly marked", "exposed"],
}
MIXED = ["okay", "average", "nothing special", "alright", "as expected"]
STRONG, WEAK = ["very", "really", "extremely", "so", "incredibly"], ["a bit", "rather", "somewhat", "quite"]
FACTS = ["We arrived at {h} o'clock.", "Came with {n} friends.", "{n} nights in July.", "Rain all day.", "We were on the way to the next hut.",
         "The glacier is an hour away.", "Booked online.", "It was full, as every weekend.", "Our dog came along.", "Started at {h} in the morning.",
         "Second time here.", "They only take cash.", "No phone signal.", "Met a nice group from Turin."]
CLOSE = {1: ["Never again.", "Avoid it.", "Go to the next hut instead."], 2: ["Would not stay again.", "Expected more."],
         3: ["Fine for one night.", "It does the job.", "Mixed feelings."], 4: ["Would stay again.", "Recommended.", "We will be back."],
         5: ["Best hut of the tour!", "Perfect.", "A highlight, thank you!"]}


def typo(text):
    if len(text) < 12 or draw.random() > .3:
        return text
    k = draw.randrange(3, len(text) - 3)
    return text[:k] + text[k + 1] + text[k] + text[k + 2 :] if draw.random() < .5 else text[:k] + text[k + 1 :]


def plural(thing):
    return thing.endswith("s") and thing not in ("pass",)


def clause(theme, liking):
    """A text and its effect."""
    things, weight = THEMES[theme]
    thing = draw.choice(things)
    be = draw.choice(["were", "are"]) if plural(thing) else draw.choice(["was", "is"])
    head = thing if thing.startswith("our") else "the " + thing
    if abs(liking) < .35:
        return f"{head} {be} {draw.choice(MIXED)}", 0.0
    good = liking > 0
    kind = draw.random()
    if kind < .22:  # negation of the opposite
        word = draw.choice((BAD if good else GOOD)[theme])
        text = draw.choice([f"{head} {be} not {word}", f"{head} {be} not {draw.choice(['at all ', 'exactly ', ''])}{word}", f"{head} {be} never {word}"])
        return text, weight * (.45 if good else -.8)
    if kind < .32:  # what it should have been
        word = draw.choice((GOOD if not good else BAD)[theme])
        return (f"we had heard {head} {be} {word}, but no", weight * (.7 if good else -.8))
    word = draw.choice((GOOD if good else BAD)[theme])
    strength, prefix = 1.0, ""
    if draw.random() < .3:
        strength, prefix = 1.45, draw.choice(STRONG) + " "
    elif draw.random() < .25:
        strength, prefix = .5, draw.choice(WEAK) + " "
    mark = ""
    if draw.random() < .12:
        strength, mark = strength * 1.2, "!!"
    return f"{head} {be} {prefix}{word}{mark}", weight * strength * (1 if good else -1.15)


rows = []
for number in range(2600):
    mood = draw.gauss(.35, .75)
    themes = draw.sample(list(THEMES), draw.choice([1, 2, 2, 3, 3, 4]))
    parts, total = [], .0
    for theme in themes:
        text, effect = clause(theme, mood + draw.gauss(0, .75))
        parts.append((text, effect))
        total += effect
    parts_text, k = [], 0
    while k < len(parts):
        if k + 1 < len(parts) and parts[k][1] * parts[k + 1][1] < 0 and draw.random() < .6:
            # what comes after "but" weighs more
            first, second = parts[k], parts[k + 1]
            total += .45 * second[1] - .35 * first[1]
            parts_text.append(f"{first[0]} but {second[0]}.")
            k += 2
        elif k + 1 < len(parts) and draw.random() < .3:
            parts_text.append(f"{parts[k][0]} and {parts[k + 1][0]}.")
            k += 2
        else:
            parts_text.append(parts[k][0] + ".")
            k += 1
    latent = total / len(themes) ** .5 + draw.gauss(.25, .3)
    rating = 1 + sum(latent > cut for cut in (-1.15, -.4, .25, 1.05))
    sentences = [t[0].upper() + t[1:] for t in parts_text]
    for _ in range(draw.choice([0, 0, 1, 1, 2])):
        fact = draw.choice(FACTS).format(h=draw.randint(4, 19), n=draw.choice(["two", "three", "four"]))
        sentences.insert(draw.randrange(len(sentences) + 1), fact)
    if draw.random() < .22:
        near = min(5, max(1, rating + draw.choice([-1, 0, 0, 0, 1])))
        sentences.append(draw.choice(CLOSE[near]))
    if draw.random() < .03:
        rating = min(5, max(1, rating + draw.choice([-2, -1, 1, 2])))
    text = " ".join(typo(s) for s in sentences)
    rows.append({"text": text.lower() if draw.random() < .1 else text, "hut": f"hut-{draw.randrange(40):02d}", "stars": rating,
                 "month": draw.choice([2, 3, 6, 7, 7, 8, 8, 8, 9, 9, 10])})
unique = list({row["text"]: row for row in rows}.values())
Path(__file__).with_name("reviews.jsonl").write_text("".join(json.dumps(row) + "\n" for row in unique))
