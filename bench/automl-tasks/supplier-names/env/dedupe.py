#!/usr/bin/env python3
"""Find different spellings of the same supplier.

usage: python dedupe.py [ledger.txt]
"""
import sys
import time


def normalise(name):
    result = ''
    for c in name.lower():
        if c.isalnum():
            result = result + c
        else:
            result = result + ' '
    return ' '.join(result.split())


def levenshtein(a, b):
    # see https://en.wikipedia.org/wiki/Levenshtein_distance
    d = []
    for i in range(len(a) + 1):
        d.append([0] * (len(b) + 1))
    for i in range(len(a) + 1):
        d[i][0] = i
    for j in range(len(b) + 1):
        d[0][j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                cost = 0
            else:
                cost = 1
            d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + cost)
    return d[len(a)][len(b)]


def group_names(names, limit):
    groups = []  # lists of positions
    for i in range(len(names)):
        # all groups that have a name near this one
        near = []
        for group in groups:
            for j in group:
                if levenshtein(normalise(names[i]), normalise(names[j])) <= limit:
                    near.append(group)
                    break
        merged = [i]
        for group in near:
            merged = merged + group
            groups.remove(group)
        groups.append(merged)

    result = []
    for i in range(len(names)):
        for group in groups:
            if i in group:
                result.append(min(group))
    return result


if __name__ == '__main__':
    filename = sys.argv[1] if len(sys.argv) > 1 else 'ledger.txt'
    names = [line.rstrip('\n') for line in open(filename, encoding='utf-8')]
    start = time.time()
    groups = group_names(names, 2)
    took = time.time() - start
    for first in sorted(set(groups)):
        spellings = sorted(set(n for n, g in zip(names, groups) if g == first))
        if len(spellings) > 1:
            print(' | '.join(spellings))
    print('%d names, %d suppliers, %.3f s' % (len(names), len(set(groups)), took))
