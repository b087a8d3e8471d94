"""Draws lists of misspelt supplier names."""

import random

FIRST = "Müller Schmidt Hansen Nordic Alpine Baltic Søren Łukasz Atlas Orion Becker Keller Weber Prime Delta Novák".split()
SECOND = "Metall Logistik Steel Foods Papier Elektro Glas Holz Chemie Textil Druck Pumpen Service Bau Farben".split()
FORMS = ["GmbH", "AG", "Ltd.", "s.r.o.", "A/S", "& Co. KG", "Inc", ""]
LETTERS = "aeiounrstlmdkgüø-. "


def misspelt(name: str, draw: random.Random) -> str:
    for _ in range(draw.choice([0, 1, 1, 2, 3])):
        at = draw.randrange(len(name))
        kind = draw.randrange(4)
        if kind == 0:
            name = name[:at] + name[at + 1 :]
        elif kind == 1:
            name = name[:at] + draw.choice(LETTERS) + name[at:]
        elif kind == 2:
            name = name[:at] + draw.choice(LETTERS) + name[at + 1 :]
        else:
            name = name[:at] + name[at : at + 2][::-1] + name[at + 2 :]
        name = name or "X"
    return draw.choice([str, str, str.upper, str.lower])(name)


def draw_names(count: int, draw: random.Random) -> list[str]:
    firms = []
    while len(firms) < max(1, count // 4):
        town = "".join(draw.choice("bdfgklmnprst") + draw.choice("aeiou") for _ in range(draw.randint(2, 3)))
        firms.append(" ".join([draw.choice(FIRST), draw.choice(SECOND), town.title(), draw.choice(FORMS)]).strip())
    return [misspelt(draw.choice(firms), draw) for _ in range(count)]
