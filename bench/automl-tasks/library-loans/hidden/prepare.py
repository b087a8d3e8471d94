"""Simulates a year of loans of a public library; the last two months are hidden."""

import os
import sqlite3
import sys
from datetime import date, timedelta

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import read_folders, write_table

READERS, BOOKS, AUTHORS, TASTES, CUT = 900, 700, 160, 6, 304
BRANCHES = ["Central", "Mill Lane", "Riverside", "Bus"]
SUBJECTS = ["F", "F-CRI", "F-SF", "F-ROM", "J", "910", "940", "641", "500", "700"]
WORDS = "The Last Silent Garden House River Letters from Winter Daughter Stone City Light Night Salt Paper Birds".split()
FIRST_DAY = date(2023, 1, 1)


def day_text(day):
    return (FIRST_DAY + timedelta(days=int(day))).isoformat()


rng = np.random.default_rng(411)
author_taste = rng.normal(size=(AUTHORS, TASTES))
author_fame = rng.normal(0, 0.5, size=AUTHORS)
directions = rng.normal(size=(len(SUBJECTS), TASTES))
author_subject = (author_taste @ directions.T + rng.gumbel(0, 0.6, size=(AUTHORS, len(SUBJECTS)))).argmax(axis=1)

books = []  # author, subject, published, series, volume, acquired
series = 0
while len(books) < BOOKS:
    author = int(rng.choice(AUTHORS, p=np.exp(author_fame) / np.exp(author_fame).sum()))
    volumes = int(rng.integers(3, 8)) if rng.random() < 0.11 else 1
    series += volumes > 1
    published = int(rng.integers(1975, 2023))
    for volume in range(1, volumes + 1):
        year = min(published + (volume - 1) * int(rng.integers(1, 3)), 2023)
        acquired = int(rng.integers(10, 340)) if year >= 2022 or rng.random() < 0.06 else None
        subject = author_subject[author] if rng.random() < 0.85 else rng.integers(len(SUBJECTS))
        books.append((author, int(subject), year, series if volumes > 1 else None, volume if volumes > 1 else None, acquired))
books = books[:BOOKS]
order = rng.permutation(BOOKS)
books = [books[i] for i in order]
author = np.array([book[0] for book in books])
taste_of_book = author_taste[author] + rng.normal(0, 0.45, size=(BOOKS, TASTES))
fame = 0.7 * author_fame[author] + rng.normal(0, 0.6, size=BOOKS)
acquired = np.array([-1000 if book[5] is None else book[5] for book in books])
copies = rng.random((BOOKS, len(BRANCHES))) < np.array([0.85, 0.45, 0.45, 0.25])
copies[~copies.any(axis=1), 0] = True
position = {(book[3], book[4]): i for i, book in enumerate(books) if book[3]}

loans, readers = [], []
for reader in range(READERS):
    branch = int(rng.choice(len(BRANCHES), p=[0.45, 0.25, 0.2, 0.1]))
    taste = rng.normal(size=TASTES)
    birth = int(np.clip(rng.normal(1978 + 4 * taste[0], 16), 1930, 2012))
    drift = rng.normal(0, 0.5, size=TASTES)
    readers.append((birth, branch))
    had, by_author, reading = set(), np.zeros(AUTHORS), []
    days = np.sort(rng.choice(365, size=min(int(rng.gamma(2.2, 11)) + 4, 120), replace=False))
    for day in days:
        book = None
        if reading and rng.random() < 0.5:
            book = reading.pop()
            if acquired[book] > day or book in had:
                book = None
        if book is None:
            liking = 1.15 * taste_of_book @ (taste + drift * (day / 365 - 0.5)) + fame
            liking += 1.1 * np.minimum(by_author[author], 2)
            liking += np.where(copies[:, branch], 0.0, -1.6)
            liking += np.where(acquired >= 0, 1.1 * np.exp(-np.clip(day - acquired, 0, None) / 45), 0)
            later = np.array([0 if not b[3] or b[4] == 1 else 1 for b in books])
            liking -= 1.2 * later
            liking[acquired > day] = -np.inf
            liking[list(had)] = -np.inf
            book = int((liking + rng.gumbel(0, 1.15, size=BOOKS)).argmax())
        had.add(book)
        by_author[author[book]] += 1
        follows = position.get((books[book][3], (books[book][4] or 0) + 1))
        if follows is not None and rng.random() < 0.85:
            reading.append(follows)
        fit = taste_of_book[book] @ taste
        loans.append((int(day), reader, book, int(rng.poisson(0.35 + 0.25 * (fit < 0)))))
loans.sort()

book_ids = rng.permutation(np.arange(1, BOOKS + 1)) + 10_000
reader_ids = rng.permutation(np.arange(READERS)) + 500
folders = read_folders()
database = sqlite3.connect(folders.public / "library.sqlite")
database.executescript(
    """
    CREATE TABLE book (book_id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER, subject TEXT, published INTEGER,
                       series_id INTEGER, volume INTEGER, acquired TEXT);
    CREATE TABLE copy (book_id INTEGER, branch TEXT);
    CREATE TABLE reader (reader_id INTEGER PRIMARY KEY, birth_year INTEGER, home_branch TEXT);
    CREATE TABLE loan (reader_id INTEGER, book_id INTEGER, day TEXT, renewed INTEGER);
    """
)
for i in np.argsort(book_ids):
    name = " ".join(rng.choice(WORDS, size=rng.integers(2, 5), replace=False))
    author_id, subject, year, series_id, volume, arrived = books[i]
    arrived = None if arrived is None or arrived >= CUT else day_text(arrived)
    row = (int(book_ids[i]), name, author_id, SUBJECTS[subject], year, series_id, volume, arrived)
    if acquired[i] < CUT:
        database.execute("INSERT INTO book VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        for place in np.flatnonzero(copies[i]):
            database.execute("INSERT INTO copy VALUES (?, ?)", (int(book_ids[i]), BRANCHES[place]))
for i in np.argsort(reader_ids):
    birth, branch = readers[i]
    row = (int(reader_ids[i]), None if rng.random() < 0.1 else birth, BRANCHES[branch])
    database.execute("INSERT INTO reader VALUES (?, ?, ?)", row)
hidden = {}
for day, reader, book, renewed in loans:
    if day < CUT:
        row = (int(reader_ids[reader]), int(book_ids[book]), day_text(day), renewed)
        database.execute("INSERT INTO loan VALUES (?, ?, ?, ?)", row)
    elif acquired[book] < CUT:
        hidden.setdefault(str(reader_ids[reader]), []).append(int(book_ids[book]))
database.commit()
database.close()
pairs = [[reader, book] for reader in sorted(hidden, key=int) for book in sorted(hidden[reader])]
pairs = [pairs[i] for i in rng.permutation(len(pairs))]
write_table(folders.private / "borrowed.csv", ["reader_id", "book_id"], pairs)
