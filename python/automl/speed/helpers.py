"""
What rewritten scripts need beside numpy: put into them as it stands.

The last `rank` axes of an array are those of the loops, of length one where it stays the same. Axes
before them are those of vectors, so that numpy's rules for both are the usual ones.
"""

import functools
import math

import numpy as np


@functools.lru_cache(100_000)
def _again(function, *given):
    """What never changes, and takes longer than to look it up."""
    return function(*given)


def _whole(array, rank):
    """An array from outside of the loops, the same in all rounds."""
    return np.reshape(array, np.shape(array) + (1,) * rank)


def _rounds(axis, rank, *bounds):
    """The numbers of a range that may differ from round to round: from the first to the last."""
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    first, last = (np.min, np.max) if step > 0 else (np.max, np.min)
    shape = [-1 if each == axis else 1 for each in range(rank)]
    if 0 in (np.size(start), np.size(stop)):
        return np.zeros(0, int).reshape(shape)
    return np.arange(first(start), last(stop), step).reshape(shape)


def _bound(bound, size, default):
    """Where a slice begins or ends, as an index from 0."""
    at = np.asarray(default if bound is None else bound)
    return np.clip(np.where(at < 0, at + size, at), 0, size)


def _places(array, rank, places):
    """
    For each axis of an array, where the part for each round starts, how it goes on, and, where
    parts differ in length, what of it is there.
    """
    dots = [n for n, each in enumerate(places) if each is ...]
    at = dots[0] if dots else len(places)
    missing = [slice(None)] * (array.ndim - rank - len(places) + len(dots))
    places = [*places[:at], *missing, *places[at + 1 :]]
    vectors, found = sum(isinstance(each, slice) for each in places), []
    for place, size in zip(places, array.shape, strict=False):
        start, run = place, 0
        if isinstance(place, slice):
            vectors -= 1
            if np.ndim(place.start) or np.ndim(place.stop):
                start = _bound(place.start, size, 0)
                length = np.maximum(_bound(place.stop, size, size) - start, 0)
                run = np.arange(np.max(length, initial=0))
            else:
                start, run, length = 0, np.arange(size)[place], np.array(size)
            run = run.reshape([-1] + [1] * (vectors + rank))
            is_there = True if (length == len(run)).all() else run < length
            start = start if is_there is True else np.minimum(start + run, size - 1) - run
            found.append((start, run, is_there))
            continue
        found.append((np.asarray(start) % size, run, True))
    for axis, size in enumerate(array.shape[array.ndim - rank :]):
        shape = [-1 if each == axis else 1 for each in range(rank)]
        found.append((np.arange(size).reshape(shape) if size > 1 else 0, 0, True))
    return found


def _index(array, rank, places):
    return tuple(start + run for start, run, _ in _places(array, rank, places))


def _steps(place, rank):
    """How evenly numbers move along each axis; None if they do not."""
    place = np.reshape(place, [1] * (rank - np.ndim(place)) + [*np.shape(place)])
    if place.size == 0:
        return None
    grid = np.ogrid[tuple(slice(size) for size in place.shape)]
    first = place.flat[0]
    steps = [place.take(1 % size, axis).flat[0] - first for axis, size in enumerate(place.shape)]
    even = first + sum(step * each for step, each in zip(steps, grid, strict=True))
    return steps if (place == even).all() else None


def _at(array, rank, *places):
    """
    A part of an array for each round; a view of it, where a copy would be far larger. Parts of
    different lengths, or of what a test picks out, have masks.
    """
    if np.asarray(places[0]).dtype == bool:
        hidden = np.ma.getmaskarray(array) | ~np.ma.filled(places[0], False)
        return np.ma.array(array, mask=hidden).reshape((-1, *array.shape[array.ndim - rank :]))
    parts = _places(array, rank, places)
    pairs = [each[:2] for each in parts]
    shown = [each[2] for each in parts if each[2] is not True]
    if shown:
        values = array[tuple(start + run for start, run in pairs)]
        hidden = ~np.logical_and.reduce(np.broadcast_arrays(*shown))
        return np.ma.array(values, mask=np.broadcast_to(hidden, values.shape))
    shape = np.broadcast(*[each for pair in pairs for each in pair]).shape
    if math.prod(shape) > 2 * array.size:
        steps = [_steps(each, len(shape)) for pair in pairs for each in pair]
        ends = [np.max(start) + np.max(run) for start, run in pairs]
        if None not in steps and np.less(ends, array.shape).all():
            first = tuple(slice(np.ravel(a)[0] + np.ravel(b)[0], None) for a, b in pairs)
            strides = np.dot(np.repeat(array.strides, 2), steps)
            return np.lib.stride_tricks.as_strided(array[first], shape, strides, writeable=False)
    return array[tuple(start + run for start, run in pairs)]


def _put(array, rank, places, value, mask):
    """Stores a value in the place of each round."""
    index = _index(array, rank, places)
    if mask is not True:
        value, mask, *index = np.broadcast_arrays(value, mask, *index)
        value, index = value[mask], tuple(each[mask] for each in index)
    array[index] = value


def _add(array, rank, places, shape, mask, *factors):
    """Adds a product to the place of each round."""
    index = _index(array, rank, places)
    moving = {np.ndim(i) - a for i in index for a, size in enumerate(np.shape(i)) if size != 1}
    total = _sum(shape, set(range(1, rank + 1)) - moving, mask, *factors)
    total, *index = np.broadcast_arrays(total, *index)
    flat = np.ravel_multi_index(tuple(index), array.shape)
    np.add.at(array.reshape(-1), flat.ravel(), total.ravel())


def _sum(shape, axes, mask, *factors):
    """The sum of a product over axes of loops, counted from the end, or over those of vectors."""
    rank, arrays = len(shape), [np.asarray(np.ma.filled(each, 0)) for each in factors]
    if mask is not True:
        # What is left out must not become not-a-number.
        for place, each in enumerate(arrays):
            if place == 0 or not np.isfinite(each).all():
                arrays[place] = np.where(mask, each, 0)
    arrays = [each.astype(int) if each.dtype == bool else each for each in arrays]
    most = max(rank, *(each.ndim for each in arrays))
    left = range(most if axes is not None else rank, 0, -1)
    axes = axes if axes is not None else range(rank + 1, most + 1)
    used = [[n - a for a in range(n) if s[a] != 1] for n, s in ((e.ndim, e.shape) for e in arrays)]
    count = 1
    for axis in axes:
        if axis <= rank and not any(axis in each for each in used):
            count *= shape[-axis]
    kept = sorted({axis for each in used for axis in each} - set(axes), reverse=True)
    terms = [part for each, own in zip(arrays, used, strict=True) for part in (each.squeeze(), own)]
    total = np.einsum(*terms, kept, optimize=len(arrays) > 1)
    sizes = dict(zip(kept, np.shape(total), strict=True))
    return count * total.reshape([sizes.get(axis, 1) for axis in left])


def _over(function, array, rank):
    """A function of each vector."""
    vectors = array.reshape((-1, *array.shape[array.ndim - rank :]))
    if isinstance(array, np.ma.MaskedArray):
        return getattr(np.ma, function.__name__)(vectors, axis=0).astype(float).filled(np.nan)
    return function(vectors, axis=0)


def _length(array, rank):
    """How many rows each vector or table has."""
    if not isinstance(array, np.ma.MaskedArray):
        return np.shape(array)[0]
    rows = ~np.ma.getmaskarray(array)
    return rows.reshape((len(rows), -1, *rows.shape[rows.ndim - rank :])).any(axis=1).sum(axis=0)


def _chosen(mask, new, old):
    """New values where rounds have them; masks have no old ones."""
    if isinstance(new, np.ma.MaskedArray) or isinstance(old, np.ma.MaskedArray):
        return new
    return np.where(mask, new, old)


def _spread(value, shape):
    return np.broadcast_to(value, np.broadcast_shapes(np.shape(value), shape))


def _items(value, shape, mask):
    """What is appended to a list in all rounds."""
    full = _spread(value, shape)
    items = np.moveaxis(full.reshape(full.shape[: full.ndim - len(shape)] + (-1,)), -1, 0)
    return items[np.broadcast_to(mask, shape).ravel()].tolist()


def _row(value, shape, axis):
    """A list that the rounds of one loop append to, as a vector."""
    return np.swapaxes(_spread(value, shape)[None], 0, axis - len(shape))


def _first(sign, value, mask, shape, start, *pairs):
    """
    Of the inner rounds, from axis `start` on, the first with the least (or with -1 greatest) value:
    its values, where the first of them is better than before.
    """
    inner = shape[:start] + (-1,)
    key = np.where(mask, sign * np.asarray(value), np.inf)
    place = np.broadcast_to(key, shape).reshape(inner).argmin(-1)[..., None]

    def found(each):
        flat = np.broadcast_to(each, shape).reshape(inner)
        picked = np.take_along_axis(flat, place, -1)
        return picked.reshape(shape[:start] + (1,) * (len(shape) - start))

    best, before = pairs[0]
    better = found(mask)
    if before is not None:
        better = better & (sign * found(best) < sign * before)
    if better.all():
        return [found(new) for new, _ in pairs]
    return [np.where(better, found(new), old) for new, old in pairs]


class _Column(np.ndarray):
    """A column of a table: like pandas, it leaves out what is missing."""

    def dropna(self):
        return self[self == self]

    def _of(self, way, least=1):
        known = np.asarray(self.dropna())
        return way(known) if len(known) >= least else np.nan

    def sum(self, *_, **__):
        return self._of(np.sum, 0)

    def mean(self, *_, **__):
        return self._of(np.mean)

    def median(self):
        return self._of(np.median)

    def min(self, *_, **__):
        return self._of(np.min)

    def max(self, *_, **__):
        return self._of(np.max)

    def std(self, *_, ddof=1, **__):
        return self._of(lambda known: np.std(known, ddof=ddof), ddof + 1)

    def var(self, *_, ddof=1, **__):
        return self._of(lambda known: np.var(known, ddof=ddof), ddof + 1)

    def count(self):
        return len(self.dropna())

    def unique(self):
        return np.array(list(dict.fromkeys(self.tolist())), self.dtype)

    def nunique(self):
        return len(set(self.dropna().tolist()))

    def isin(self, values):
        return np.isin(self, list(values))

    def abs(self):
        return np.abs(self)

    def to_numpy(self):
        return np.asarray(self)

    values = iloc = property(to_numpy)
    empty = property(lambda self: len(self) == 0)


class _Columns:
    """Rows of a table whose columns are arrays."""

    def __init__(self, arrays, rows):
        self.arrays, self.rows = arrays, rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, key):
        if isinstance(key, str):
            return self.arrays[key][self.rows]
        if isinstance(key, list):
            return _Columns({name: self.arrays[name] for name in key}, self.rows)
        return _Columns(self.arrays, self.rows[key])

    def __getattr__(self, name):
        if name not in self.arrays:
            raise AttributeError(name)
        return self[name]

    def iterrows(self):
        columns = [self[name].tolist() for name in self.arrays]
        for place, values in enumerate(zip(*columns, strict=True)):
            yield place, dict(zip(self.arrays, values, strict=True))

    def groupby(self, name):
        values = self[name]
        order = np.argsort(values, kind="stable")
        ends = np.flatnonzero(values[order][1:] != values[order][:-1]) + 1
        for rows in np.split(np.asarray(order), ends):
            if len(rows) > 0:
                yield values[rows[0]], self[rows]

    empty = property(lambda self: len(self.rows) == 0)
    shape = property(lambda self: (len(self.rows), len(self.arrays)))


def _columns(table):
    if not hasattr(table, "iterrows"):
        return table
    arrays = {name: table[name].to_numpy().view(_Column) for name in table.columns}
    return _Columns(arrays, np.arange(len(table)))
