"""Recommend books: readers who borrowed this also borrowed ..."""

import json
import math
import os
import random
import sqlite3
from collections import Counter, defaultdict

DATABASE = "data/library.sqlite"
N_RECOMMENDED = 10
VALIDATION_FROM = "2023-09-15"
MAX_PAIRS_PER_READER = 2000


def load_loans():
    with sqlite3.connect(f"file:{DATABASE}?immutable=1", uri=True) as connection:
        return connection.execute("select reader_id, book_id, day from loan order by day").fetchall()


def load_readers():
    with sqlite3.connect(f"file:{DATABASE}?immutable=1", uri=True) as connection:
        return [row[0] for row in connection.execute("select reader_id from reader order by reader_id")]


def books_by_reader(loans):
    shelves = defaultdict(set)
    for reader, book, _ in loans:
        shelves[reader].add(book)
    return shelves


def count_together(shelves, rng):
    together = defaultdict(Counter)
    for books in shelves.values():
        pairs = [(a, b) for a in sorted(books) for b in sorted(books) if a != b]
        if len(pairs) > MAX_PAIRS_PER_READER:
            pairs = rng.sample(pairs, MAX_PAIRS_PER_READER)
        for a, b in pairs:
            together[a][b] += 1
    return together


def recommend(readers, loans, rng):
    shelves = books_by_reader(loans)
    together = count_together(shelves, rng)
    popular = [book for book, _ in Counter(book for _, book, _ in loans).most_common()]
    result = {}
    for reader in readers:
        votes = Counter()
        for mine in sorted(shelves[reader]):
            votes.update(together[mine])
        ranked = [book for book, _ in votes.most_common() if book not in shelves[reader]]
        for book in popular:
            if len(ranked) >= N_RECOMMENDED:
                break
            if book not in shelves[reader] and book not in ranked:
                ranked.append(book)
        result[reader] = ranked[:N_RECOMMENDED]
    return result


def evaluate(recommended, past, future, k):
    had = books_by_reader(past)
    wanted = {reader: books - had[reader] for reader, books in books_by_reader(future).items()}
    precision, recall, ndcg, n = 0.0, 0.0, 0.0, 0
    for reader, books in wanted.items():
        if not books:
            continue
        hits = [1 if book in books else 0 for book in recommended[reader][:k]]
        ideal = sum(1 / math.log2(rank + 2) for rank in range(min(k, len(books))))
        precision += sum(hits) / k
        recall += sum(hits) / len(books)
        ndcg += sum(hit / math.log2(rank + 2) for rank, hit in enumerate(hits)) / ideal
        n += 1
    return precision / n, recall / n, ndcg / n


def main():
    rng = random.Random(int(os.environ.get("MLAB_SEED", 0)))
    loans, readers = load_loans(), load_readers()

    past = [loan for loan in loans if loan[2] < VALIDATION_FROM]
    future = [loan for loan in loans if loan[2] >= VALIDATION_FROM]
    recommended = recommend(readers, past, rng)
    print(f"{len(past)} loans before {VALIDATION_FROM}, {len(future)} after")
    print("|  k | precision | recall |   NDCG |")
    print("|---:|----------:|-------:|-------:|")
    for k in (5, 10):
        precision, recall, ndcg = evaluate(recommended, past, future, k)
        print(f"| {k:2d} |    {precision:.4f} | {recall:.4f} | {ndcg:.4f} |")

    final = recommend(readers, loans, rng)
    with open("recommendations.json", "w") as file:
        json.dump({str(reader): books for reader, books in final.items()}, file)


if __name__ == "__main__":
    main()
