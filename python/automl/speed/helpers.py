"""What rewritten scripts need beside numpy: put into them as it stands."""

import numpy as np


def _spread(value, shape):
    """A value for each round of the loops; axes behind those of the loops stay."""
    value = np.asarray(value)
    return np.broadcast_to(value, shape + value.shape[len(shape) :])


def _sum(factors, shape, axes, mask=None):
    """The sum of a product over some axes, of length one afterwards; those behind the loops' go."""
    arrays = [np.asarray(each) for each in factors]
    if mask is not None:
        arrays[0] = np.where(mask, arrays[0], 0)
    rank, count = max([len(shape), *(each.ndim for each in arrays)]), 1
    arrays = [each.astype(int) if each.dtype == bool else each for each in arrays]
    arrays = [each if each.ndim else each.reshape((1,) * rank) for each in arrays]
    used = [[axis for axis in range(rank) if each.shape[axis] != 1] for each in arrays]
    for axis in axes:
        if axis < len(shape) and not any(axis in each for each in used):
            count *= shape[axis]
    kept = sorted({axis for each in used for axis in each} - set(axes))
    plain = [
        each.reshape([each.shape[a] for a in use]) for each, use in zip(arrays, used, strict=False)
    ]
    terms = [part for pair in zip(plain, used, strict=False) for part in pair]
    total = np.einsum(*terms, kept, optimize=len(arrays) > 1)
    sizes = dict(zip(kept, np.shape(total), strict=False))
    return total.reshape([sizes.get(axis, 1) for axis in range(len(shape))]) * count


def _view(base, shape, places, guard=False):
    """
    A part of an array for each round, without a copy where that can be. A place on an axis is
    (start, ((loop, step), ...), length): where it lies in the first round, how far each loop moves
    it, and how many there are from there on; None for one.
    """
    strides, sizes, extra, used = [0] * len(shape), [1] * len(shape), [], 0
    for (start, steps, length), stride, size in zip(places, base.strides, base.shape, strict=False):
        ends = [start, start + (length or 1) - 1]
        for axis, step in steps:
            strides[axis] += step * stride
            sizes[axis] = shape[axis]
            ends[step > 0] += step * (shape[axis] - 1)
        used += ends[0] >= 0 and ends[1] < size
        extra += [(length, stride)] if length is not None else []
    if used == base.ndim:
        corner = base[tuple(slice(start, None) for start, _, _ in places)]
        lengths, more = [n for n, _ in extra], [s for _, s in extra]
        return np.lib.stride_tricks.as_strided(corner, sizes + lengths, strides + more)
    index, seen = [], 0
    for (start, steps, length), size in zip(places, base.shape, strict=False):
        number = np.full((1,) * (len(shape) + len(extra)), start)
        for axis, step in steps:
            run = step * np.arange(shape[axis])
            number = number + run.reshape((-1,) + (1,) * (number.ndim - axis - 1))
        if length is not None:
            seen += 1
            number = number + np.arange(length).reshape((-1,) + (1,) * (len(extra) - seen))
        index.append(number % size if guard else number)
    return base[tuple(index)]


def _first_least(value, shape, start, mask=None):
    """The round from axis `start` on with the least value, the first of equal ones."""
    full = _spread(value, shape)
    if mask is not None:
        full = np.where(mask, full, np.inf)
    return full.reshape(shape[:start] + (-1,)).argmin(-1)


def _pick(value, place, shape, start):
    """The values of the rounds that were found."""
    flat = _spread(value, shape).reshape(shape[:start] + (-1,))
    picked = np.take_along_axis(flat, place[..., None], -1)
    return picked.reshape(shape[:start] + (1,) * (len(shape) - start))


def _put(array, index, value, shape, mask=None):
    """Stores a value in the place of each round."""
    index = tuple(_spread(each, shape) for each in index)
    value = _spread(value, shape)
    if mask is not None:
        mask = _spread(mask, shape)
        index, value = tuple(each[mask] for each in index), value[mask]
    array[index] = value


def _add(array, index, factors, shape, mask=None):
    """Adds a product to the place of each round."""
    alike = [a for a in range(len(shape)) if all(np.ndim(i) == 0 or i.shape[a] == 1 for i in index)]
    total = _sum(factors, shape, alike, mask)
    left = tuple(1 if axis in alike else size for axis, size in enumerate(shape))
    places = tuple(np.asarray(_spread(each, left)).ravel() for each in index)
    if array.ndim == 1 and array.dtype == float:
        array += np.bincount(places[0], _spread(total, left).ravel(), len(array))
    else:
        np.add.at(array, places, _spread(total, left).reshape(-1))
