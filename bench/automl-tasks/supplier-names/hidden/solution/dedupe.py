"""Groups names: lengths and letters rule out most pairs, the others get a bit-parallel distance."""


def normalise(name):
    return " ".join("".join([c if c.isalnum() else " " for c in name.lower()]).split())


def masks_of(a):
    masks = {}
    for i, c in enumerate(a):
        masks[c] = masks.get(c, 0) | (1 << i)
    return masks


def distance(a_length, masks, b):
    """Levenshtein distance by Myers and Hyyrö."""
    if not a_length:
        return len(b)
    full, last = (1 << a_length) - 1, 1 << (a_length - 1)
    plus, minus, result = full, 0, a_length
    for c in b:
        eq = masks.get(c, 0)
        d0 = (((eq & plus) + plus) ^ plus) | eq | minus
        hp = minus | ~(d0 | plus)
        hm = d0 & plus
        if hp & last:
            result += 1
        elif hm & last:
            result -= 1
        hp = (hp << 1) | 1
        plus = ((hm << 1) | ~(d0 | hp)) & full
        minus = d0 & hp & full
    return result


def group_names(names, limit):
    unique = {}
    for position, name in enumerate(names):
        unique.setdefault(normalise(name), position)
    keys = list(unique)
    letters = {c: i for i, c in enumerate(sorted(set("".join(keys))))}
    lengths = [len(key) for key in keys]
    bags = [sum(1 << letters[c] for c in set(key)) for key in keys]
    masks = [masks_of(key) for key in keys]
    parent = list(range(len(keys)))

    def find(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for i, key in enumerate(keys):
        bag, length = bags[i], lengths[i]
        for j in range(i):
            if -limit <= length - lengths[j] <= limit and (bag ^ bags[j]).bit_count() <= 2 * limit:
                a, b = find(i), find(j)
                if a != b and distance(lengths[j], masks[j], key) <= limit:
                    parent[max(a, b)] = min(a, b)
    first = [unique[keys[find(i)]] for i in range(len(keys))]
    index = {key: i for i, key in enumerate(keys)}
    return [first[index[normalise(name)]] for name in names]
