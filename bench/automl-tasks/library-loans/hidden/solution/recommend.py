"""Next volumes of series, authors, similarity with less weight for popular books and old loans, and branches."""

import json
import sqlite3

import numpy as np
import pandas as pd

connection = sqlite3.connect("file:data/library.sqlite?immutable=1", uri=True)
book, copy, reader, loan = (pd.read_sql(f"select * from {name}", connection) for name in ("book", "copy", "reader", "loan"))
column = {book_id: i for i, book_id in enumerate(book["book_id"])}
row = {reader_id: i for i, reader_id in enumerate(reader["reader_id"])}
r, b = loan["reader_id"].map(row).to_numpy(), loan["book_id"].map(column).to_numpy()
end = pd.Timestamp("2023-11-01")
age = (end - pd.to_datetime(loan["day"])).dt.days.to_numpy()
had = np.zeros((len(reader), len(book)))
had[r, b] = 1
recent = np.zeros_like(had)
recent[r, b] = np.exp(-age / 250)

gram = had.T @ had + 150 * np.eye(len(book))  # item to item by ridge regression (EASE)
inverse = np.linalg.inv(gram)
weights = -inverse / np.diag(inverse)
np.fill_diagonal(weights, 0)
scores = recent @ weights

authors = pd.get_dummies(book["author_id"]).to_numpy(float)
scores += 0.05 * np.minimum(had @ authors, 2) @ authors.T
place = {branch: i for i, branch in enumerate(sorted(copy["branch"].unique()))}
owned = np.zeros((len(place), len(book)))
owned[copy["branch"].map(place), copy["book_id"].map(column)] = 1
scores += 0.08 * owned[reader["home_branch"].map(place)]
new = np.exp(-(end - pd.to_datetime(book["acquired"])).dt.days.to_numpy() / 60)
scores += 0.1 * np.nan_to_num(new)
volume = {(s, v): i for i, (s, v) in enumerate(zip(book["series_id"], book["volume"], strict=True)) if s == s}
for i, j, days in zip(r, b, age, strict=True):
    follows = volume.get((book["series_id"][j], book["volume"][j] + 1))
    if follows is not None:
        scores[i, follows] += 0.6 * np.exp(-days / 120)
scores[had > 0] = -np.inf
best = np.argsort(-scores, axis=1, kind="stable")[:, :10]
ids = book["book_id"].tolist()
with open("recommendations.json", "w") as file:
    json.dump({str(k): [ids[j] for j in best[i]] for i, k in enumerate(reader["reader_id"])}, file)
