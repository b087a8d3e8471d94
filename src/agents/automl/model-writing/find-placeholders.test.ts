import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../trial.ts';
import { findPlaceholders } from './find-placeholders.ts';
import { whyUnfinished } from './unfinished.ts';

const seen = { present: false, written_at_step: null, stale: false };
const crashed: Outcome = { kind: 'failed', why: 'it ended as failed', seconds: 1, timedOut: false };
const mute: Outcome = { ...crashed, why: 'it printed no MAE', silent: true };
const measured: Outcome = {
  kind: 'measured',
  score: 1,
  line: 'MAE: 1',
  validation: false,
  seconds: 1,
  printed: '',
};

const placeholdersIn = (source: string) =>
  findPlaceholders(source).map(({ kind, text }) => `${kind}: ${text}`);

describe('the finder of placeholders', () => {
  it.each([
    ['a name that is nowhere given a value, once', 'fit(model)\nmodel.run()\nprint(model)', ['fit', 'model']],
    ['a name that is only added to', 'x += y', ['x', 'y']],
    [
      'a name in a default, in a lambda and in a comprehension',
      '[f(a, b=c) for a in d if lambda e: e + g]',
      ['f', 'c', 'd', 'g'],
    ],
  ])('finds %s', (_, source, names) => {
    expect(placeholdersIn(source)).toEqual(names.map((name) => `undefined name: ${name}`));
  });

  it.each([
    'import os, a.b as c\nfrom d import e, f as g\nprint(os, c, e, g, a)',
    'def f(a, *b, c=1, **d):\n    return a, b, c, d\nf(a=1)',
    'class A:\n    width: int\n    def g(self):\n        return A, self.x\nwidth',
    'a, (b, *c) = d = [1]\n(e := 1)\nprint(a, b, c, d, e, len(__file__))',
    'for i, j in range(3):\n    print(i, j)\nprint(sum(k for k in [1]), [l for l in [1]], {m: n for m, n in []})',
    'with open("x") as f, open("y") as g:\n    print(f, g)\ntry:\n    pass\nexcept OSError as error:\n    print(error)',
    'match 1:\n    case [x, *y]:\n        print(x, y)\n    case {"k": z}:\n        print(z)',
    'import torch\n@torch.no_grad()\ndef f():\n    global g\n    g = 1\n    return lambda x, y=2: x + y + g',
    'from math import *\nprint(sqrt(2))',
  ])('takes no name for undefined that has a value: %j', (source) => {
    expect(placeholdersIn(source)).toEqual([]);
  });

  it('finds bodies that are still to be written, but none that is intentionally empty', () => {
    const source = `
from abc import ABC, abstractmethod

class Model:
    def __init__(self): pass
    def fit(self, rows):
        """TODO: learn."""
        self.rows = rows
    def predict(self, rows):
        raise NotImplementedError("later")
    def size(self):
        """How much there is."""
        return 1

class Shape(ABC):
    @abstractmethod
    def area(self): ...

def load():
    """Loads."""
    ...
`;
    expect(placeholdersIn(source)).toEqual(['marked body: fit', 'empty body: predict', 'empty body: load']);
  });

  it.each([
    '# TODO: train it',
    '# *** YOUR MODEL HERE ***',
    '# your code goes below',
    '# FIXME',
    '# Fill in the gap',
  ])('reads the comment %j as a placeholder', (comment) => {
    expect(placeholdersIn(`x = 1  ${comment}`)).toEqual([`marker: ${comment}`]);
  });

  it.each(['# everything to do with the model', '# 2 ** 3 ** 4', '# a list of todos', '# the code below'])(
    'reads the comment %j as a comment',
    (comment) => {
      expect(placeholdersIn(`x = 1  ${comment}`)).toEqual([]);
    },
  );

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => void findPlaceholders(text)),
    );
  });
});

describe('a starter', () => {
  const tasks = join(import.meta.dirname, '../../../../tasks');
  const scripts = readdirSync(tasks)
    .filter((task) => existsSync(join(tasks, task, 'task.yaml')))
    .map((task) => {
      const entry = /^entry: (\S+)/m.exec(readFileSync(join(tasks, task, 'task.yaml'), 'utf8'))?.[1];
      return { task, source: readFileSync(join(tasks, task, 'env', entry ?? 'train.py'), 'utf8') };
    });

  it('of this project is a skeleton if and only if it lacks its model, however it ends', () => {
    expect(scripts.length).toBeGreaterThan(20);
    const lacking = (outcome: Outcome) =>
      scripts
        .filter(
          ({ source }) =>
            whyUnfinished(findPlaceholders(source), outcome, { ...seen, present: true }) !== null,
        )
        .map(({ task }) => task);
    // The model of feedback draws its answers at random, and says so.
    expect(lacking(crashed)).toEqual(['feedback', 'house-price', 'imdb', 'spaceship-titanic']);
    expect(lacking(measured)).toEqual(['feedback']);
  });

  it('that works is no skeleton, whatever its comments say', () => {
    const placeholders = findPlaceholders('# TODO: try more trees\ndef log(message): pass\n');
    expect(whyUnfinished(placeholders, measured, seen)).toBeNull();
    expect(whyUnfinished(placeholders, crashed, seen)).toContain('try more trees');
  });

  it('that prints no metric and writes nothing is a skeleton; one that crashes or is too slow need not be', () => {
    expect(whyUnfinished([], mute, seen)).toContain('writes no submission');
    expect(whyUnfinished([], mute, { ...seen, present: true })).toBeNull();
    expect(whyUnfinished([], crashed, seen)).toBeNull();
    const slow: Outcome = { ...crashed, timedOut: true };
    expect(whyUnfinished(findPlaceholders('model.fit()'), slow, seen)).toBeNull();
  });
});
