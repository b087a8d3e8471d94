"""How much do two birdsongs have in common? Rows of the table are bits of integers (Hyyrö 2004)."""


def overlaps(songs):
    names = list(songs)
    result = {name: {} for name in names}
    for place, first in enumerate(names):
        a = songs[first]
        full = (1 << len(a)) - 1
        where = {}
        for i, letter in enumerate(a):
            where[letter] = where.get(letter, 0) | 1 << i
        for second in names[place:]:
            row = full
            for letter in songs[second]:
                hits = row & where.get(letter, 0)
                row = (row + hits | row - hits) & full
            result[first][second] = result[second][first] = len(a) - row.bit_count()
    return result
