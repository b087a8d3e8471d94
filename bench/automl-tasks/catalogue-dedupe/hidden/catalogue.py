"""Invents library catalogues with duplicates, for the example and for grading."""

import random

FIRST = "Anna Umberto José Thomas Günter Marguerite Jorge Italo Doris Haruki Iris Émile Zadie Søren Ítalo Chinua Elena Orhan".split()
SYLLABLES = "mar ten ler kow ski ran do bö ll sa ra ma go hu gé ne au ster le sing ná dler pa muk ro ver gas".split()
NOUNS = """garden winter river mirror island letter history theory handbook mountain silence stranger machine atlas café crossing
orchard republic shadow station kingdom lantern museum narrative organism particle quarry railway sculpture theatre umbrella
village weather Straße Mädchen forêt château""".split()
ADJECTIVES = "last hidden blue practical modern forgotten brief general comparative invisible golden broken applied early distant new".split()
FRAMES = ["The {a} {n}", "{n} and {m}", "A {a} History of {n}", "The {n} of the {a} {m}", "On {n}, {m} and the {a} {k}", "Introduction to {a} {n}",
          "Notes for a {a} {n}", "{a} {n}: a {m} in the {k}", "Les {n}s de la {m}", "Das {a} {n} und der {m}"]


def book(draw: random.Random) -> dict:
    surname = "".join(draw.sample(SYLLABLES, draw.choice([2, 2, 3]))).capitalize()
    words = dict(zip("nmk", draw.sample(NOUNS, 3)), a=draw.choice(ADJECTIVES))
    title = draw.choice(FRAMES).format(**words)
    if draw.random() < 0.35:
        title += ": " + draw.choice(FRAMES).format(**dict(zip("nmk", draw.sample(NOUNS, 3)), a=draw.choice(ADJECTIVES)))
    return {"author": f"{draw.choice(FIRST)} {surname}", "title": title, "year": draw.randint(1955, 2023)}


def damaged(text: str, draw: random.Random) -> str:
    for _ in range(draw.choice([0, 0, 1, 1, 2, 4])):
        k = draw.randrange(len(text))
        text = text[:k] + draw.choice(["", draw.choice("aeinrst"), text[k] * 2]) + text[k + 1 :]
    return text


def copy_of(record: dict, draw: random.Random) -> dict:
    first, _, last = record["author"].partition(" ")
    author = draw.choice([record["author"], f"{last}, {first}", f"{first[0]}. {last}", f"{last}, {first[0]}."])
    title = damaged(record["title"], draw)
    title = draw.choice([title, title.upper(), title + ".", title.replace(": ", " - "), title.replace("é", "e")])
    return {"author": author, "title": title, "year": record["year"] + draw.choice([0, 0, 0, 1, -1, 2])}


def catalogue(size: int, draw: random.Random) -> list[dict]:
    records: list[dict] = []
    while len(records) < size:
        if records and draw.random() < 0.25:
            records.append(copy_of(draw.choice(records), draw))
        else:
            records.append(book(draw))
    draw.shuffle(records)
    ids = draw.sample(range(1000, 10000), size)
    return [{"id": id, **record} for id, record in zip(ids, records)]
