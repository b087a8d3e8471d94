"""Made-up ratings of board games: habits of users, quality of games, tastes, and a little attendance effect."""

import os
import sys

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.bundled import order_by_content
from mlab_task.preparing import read_folders, write_table

rng = np.random.default_rng(616)
USERS, GAMES, HIDDEN = 420, 240, 3200
GENRES = ["abstract", "party", "euro", "war", "family", "coop"]

genre = rng.choice(6, GAMES, p=[0.14, 0.18, 0.24, 0.12, 0.18, 0.14])
weight = np.clip(np.array([2.3, 1.3, 3.2, 3.6, 1.7, 2.5])[genre] + rng.normal(0, 0.5, GAMES), 1, 5)
minutes = np.round(np.exp(2.6 + 0.45 * weight + rng.normal(0, 0.35, GAMES)) / 5) * 5 + 5
year = rng.integers(1985, 2025, GAMES)
players = rng.integers(3, 9, GAMES)

# three hidden tastes; genre and weight explain a part of them
factors = rng.normal(0, 0.75, (GAMES, 4)) + rng.normal(0, 0.65, (6, 4))[genre]
factors[:, 0] += 0.6 * (weight - 2.4)
tastes = rng.normal(0, 0.62, (USERS, 4)) * np.array([1.25, 1.0, 0.9, 0.7])
habit = rng.normal(0, 0.95, USERS)
spread = rng.lognormal(0, 0.18, USERS)
quality = rng.normal(0, 0.6, GAMES) + 0.02 * (year - 2005) * 0.6 - 0.003 * np.abs(minutes - 70)
popular = rng.lognormal(0, 0.7, GAMES)
busy = rng.gamma(2.2, 14, USERS) + 8

rows = []
for user in range(USERS):
    liking = factors @ tastes[user]
    chance = popular * np.exp(0.35 * liking)
    count = int(min(busy[user], 120))
    for game in rng.choice(GAMES, count, replace=False, p=chance / chance.sum()):
        group = rng.integers(2, 7)
        value = 6.3 + habit[user] + spread[user] * (quality[game] + liking[game])
        value -= 0.5 * (group > players[game]) + rng.normal(0, 0.8)
        rows.append([f"u{user:03d}", f"g{game:03d}", int(group), min(10, max(1, round(value * 2) / 2))])

order = order_by_content([row[:3] for row in rows])
rows = [[f"r{number:05d}", *rows[place]] for number, place in enumerate(order)]
folders = read_folders()
write_table(folders.public / "ratings.csv", ["user", "game", "group_size", "rating"], [row[1:] for row in rows[HIDDEN:]])
write_table(folders.public / "pairs.csv", ["pair", "user", "game", "group_size"], [row[:4] for row in rows[:HIDDEN]])
write_table(folders.private / "labels.csv", ["pair", "rating"], [[row[0], row[4]] for row in rows[:HIDDEN]])
write_table(
    folders.public / "games.csv",
    ["game", "genre", "weight", "minutes", "year", "max_players"],
    [
        [f"g{k:03d}", GENRES[genre[k]], "" if rng.random() < 0.08 else round(weight[k], 2), int(minutes[k]), year[k], players[k]]
        for k in range(GAMES)
    ],
)
