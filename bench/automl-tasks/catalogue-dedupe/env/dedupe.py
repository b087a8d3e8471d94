"""Finds groups of records that describe the same book."""

from clean import normalise, surname


def edit_distance(a, b):
    """Levenshtein distance."""
    table = []
    for i in range(len(a) + 1):
        table.append([0] * (len(b) + 1))
    for i in range(len(a) + 1):
        table[i][0] = i
    for j in range(len(b) + 1):
        table[0][j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + cost)
    return table[len(a)][len(b)]


def is_same(first, second, tolerance):
    """Years at most one apart, surnames at most one letter apart, and similar titles.

    `tolerance` is how many edits per 100 letters of the longer title are allowed.
    """
    title1, title2 = normalise(first["title"]), normalise(second["title"])
    author1, author2 = surname(first["author"]), surname(second["author"])
    if abs(first["year"] - second["year"]) > 1:
        return False
    if edit_distance(author1, author2) > 1:
        return False
    return edit_distance(title1, title2) * 100 <= tolerance * max(len(title1), len(title2))


def find_duplicates(records, tolerance=20):
    """Groups of two and more ids, each sorted, in the order of their first id.

    Records are in one group if a chain of similar records connects them.
    """
    pairs = []
    for first in records:
        for second in records:
            if first["id"] < second["id"] and is_same(first, second, tolerance):
                pairs.append((first["id"], second["id"]))

    groups = [[record["id"]] for record in records]
    for a, b in pairs:
        with_a = [group for group in groups if a in group][0]
        with_b = [group for group in groups if b in group][0]
        if with_a != with_b:
            groups.remove(with_a)
            groups.remove(with_b)
            groups.append(sorted(with_a + with_b))
    return sorted([group for group in groups if len(group) > 1])
