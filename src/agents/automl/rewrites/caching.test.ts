import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { rewriteCaching } from './caching.ts';
import { surroundingsOf } from './made-up-surroundings.ts';

const fast = surroundingsOf({ name: 'run time', unit: 'seconds', direction: 'minimize' }, []);

const distance = `"""How many edits lie between two words."""


def distance(one, other):
    if not one or not other:
        return len(one) + len(other)
    same = int(one[-1] != other[-1])
    return min(
        distance(one[:-1], other) + 1, distance(one, other[:-1]) + 1, distance(one[:-1], other[:-1]) + same
    )


def twice(x):
    return 2 * x


CALLS = 0
print(distance("kitten", "sitting"), twice(4))
`;

test('a function that calls itself several times remembers its results, and gives the same', () => {
  const offers = rewriteCaching(distance, fast);
  expect(offers.map(({ change }) => change)).toEqual([
    'distance (line 4) remembers what it gave back for which arguments.',
  ]);
  const source = offers[0]?.source ?? '';
  expect(source).toContain('@functools.lru_cache(maxsize=None)\ndef distance(');
  const printed = (script: string) => execFileSync('python3', ['-c', script], { encoding: 'utf8' });
  expect(printed(source)).toBe(printed(distance));
});

test('nothing is offered for other metrics, nor for functions that call themselves once or do more', () => {
  const accuracy = surroundingsOf({ name: 'accuracy', unit: 'fraction', direction: 'maximize' }, []);
  expect(rewriteCaching(distance, accuracy)).toEqual([]);
  const once = 'def f(n):\n    return 1 if n < 2 else n * f(n - 1)\n';
  const counting = 'def f(n):\n    global CALLS\n    CALLS += 1\n    return f(n - 1) + f(n - 2)\n';
  for (const source of [once, counting, 'def f(\n']) expect(rewriteCaching(source, fast)).toEqual([]);
});
