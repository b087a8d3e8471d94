"""Finds groups of records that describe the same book: every text is cleaned once, and only close years are compared."""

from collections import defaultdict

from clean import normalise, surname


def within(a, b, most):
    """Whether the Levenshtein distance is at most `most`; only the diagonal band is calculated."""
    if abs(len(a) - len(b)) > most:
        return False
    if a == b:
        return True
    beyond = most + 1
    row = [j if j <= most else beyond for j in range(len(b) + 1)]
    for i, letter in enumerate(a, 1):
        low, high = max(1, i - most), min(len(b), i + most)
        new = [beyond] * (len(b) + 1)
        if i <= most:
            new[0] = i
        for j in range(low, high + 1):
            value = row[j - 1] if letter == b[j - 1] else 1 + min(row[j - 1], row[j], new[j - 1])
            new[j] = value
        if min(new) > most:
            return False
        row = new
    return row[-1] <= most


def find_duplicates(records, tolerance=20):
    years = defaultdict(list)
    for record in records:
        years[record["year"]].append((record["id"], surname(record["author"]), normalise(record["title"])))
    parent = {record["id"]: record["id"] for record in records}

    def root(id):
        while parent[id] != id:
            parent[id] = id = parent[parent[id]]
        return id

    for year, entries in years.items():
        later = years.get(year + 1, ())
        for k, (id, author, title) in enumerate(entries):
            for candidates in (entries[k + 1 :], later):
                for other, author2, title2 in candidates:
                    if within(author, author2, 1) and within(title, title2, int(tolerance * max(len(title), len(title2)) // 100)):
                        parent[root(id)] = root(other)
    groups = defaultdict(list)
    for id in parent:
        groups[root(id)].append(id)
    return sorted(sorted(group) for group in groups.values() if len(group) > 1)
