"""How much do two birdsongs have in common?"""

import json
import time

N_SONGS = 20


def common(a, b):
    """Length of the longest common subsequence of two texts."""
    table = {}
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if i == 0 or j == 0:
                table[i, j] = 0
            elif a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1] + 1
            else:
                table[i, j] = max(table[i - 1, j], table[i, j - 1])
    return table[len(a), len(b)]


def overlaps(songs):
    result = {}
    for first in songs:
        result[first] = {}
        for second in songs:
            result[first][second] = common(songs[first], songs[second])
    return result


if __name__ == "__main__":
    with open("data/archive.json") as f:
        archive = json.load(f)
    songs = dict(list(archive.items())[:N_SONGS])
    t0 = time.perf_counter()
    result = overlaps(songs)
    took = time.perf_counter() - t0
    total = sum(sum(row.values()) for row in result.values())
    print(f"{len(songs)} songs, sum of overlaps {total}, took {took:.3f} s")
