import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commonLoops } from '../../../../../test/fixtures/common-loops.ts';
import {
  loopScriptEnd,
  loopScriptStart,
  vectorisableLoops,
} from '../../../../../test/fixtures/loop-scripts.ts';
import { otherLoops } from '../../../../../test/fixtures/loops-left-alone.ts';
import { scientificLoops } from '../../../../../test/fixtures/scientific-loops.ts';
import { syntaxErrors } from '../../python-source.ts';
import { surroundingsOf } from '../made-up-surroundings.ts';
import { rewriteLoops } from './rewrite-loops.ts';

const fast = surroundingsOf({ name: 'run time', unit: 'seconds', direction: 'minimize' }, ['numpy']);

function loopsOf(source: string): number {
  return source.match(/\bfor \w+.* in /g)?.length ?? 0;
}

test.each(
  [...vectorisableLoops, ...commonLoops, ...scientificLoops].map(({ title, code }) => [title, code] as const),
)('a loop is written with whole arrays: %s', (_, code) => {
  const [offer] = rewriteLoops(loopScriptStart + code + loopScriptEnd, fast);
  expect(loopsOf(offer?.source ?? code)).toBeLessThan(loopsOf(code));
  expect(offer?.change).toMatch(/line \d+.*\.$/);
});

test.each(otherLoops.map(({ title, code }) => [title, code] as const))(
  'a loop whose rounds need each other is left alone: %s',
  (_, code) => {
    expect(rewriteLoops(loopScriptStart + code + loopScriptEnd, fast)).toEqual([]);
  },
);

test('of nests with a search or neighbours that are written out no loop is left', () => {
  const isWhole = /torus, with neighbours|nearest centre|half of the pairs|clamped|what lies inside/;
  const nests = scientificLoops.filter(({ title }) => isWhole.test(title));
  expect(nests.length).toBeGreaterThan(9);
  for (const { title, code } of nests) {
    const [offer] = rewriteLoops(loopScriptStart + code + loopScriptEnd, fast);
    expect({ title, left: offer?.source.match(/^ *for (?!_ )/gm) }).toEqual({ title, left: null });
  }
});

test('of steps in time only the loops over the grid are written with whole arrays', () => {
  for (const { code } of commonLoops.filter(({ title }) => title.startsWith('steps'))) {
    const [offer] = rewriteLoops(loopScriptStart + code + loopScriptEnd, fast);
    expect(offer?.source.match(/^ *for .*$/gm)).toEqual(['for step in range(5):']);
  }
});

test('sums of products become matrix products, and all loops of a script are offered at once first', () => {
  const twice = vectorisableLoops.slice(0, 2).map(({ code }) => code.replaceAll('result', 'one'));
  const offers = rewriteLoops(loopScriptStart + twice.join('') + loopScriptEnd, fast);
  expect(offers[0]?.source).toContain('np.einsum("ab,bc->ac", a[:n, :m], b[:m, :25], optimize=True)');
  expect(offers.map(({ source }) => loopsOf(source))).toEqual([0, 3, 3, 2]);
});

test('numpy is imported where it is not', () => {
  const source =
    'import time\n\nsquares = []\nfor i in range(10**6):\n    squares.append(i * i + 1)\nprint(len(squares))\n';
  expect(rewriteLoops(source, fast)[0]?.source).toContain('import time\nimport numpy as np\n');
  expect(rewriteLoops(source, { ...fast, packages: [] })).toEqual([]);
});

test('nothing is offered where the metric is not speed', () => {
  const source = loopScriptStart + (vectorisableLoops[0]?.code ?? '');
  const accuracy = surroundingsOf({ name: 'accuracy', unit: 'fraction', direction: 'maximize' }, ['numpy']);
  expect(rewriteLoops(source, accuracy)).toEqual([]);
  const metric = { name: 'throughput', unit: 'items per second', direction: 'maximize' as const };
  expect(rewriteLoops(source, surroundingsOf(metric, ['numpy']))).not.toEqual([]);
});

test('whatever the text, it never throws and what it offers can be parsed', () => {
  const word = fc.constantFrom(
    ...[
      'for i in range(n):\n',
      '    ',
      'for',
      'in',
      'range(',
      ')',
      'a[i',
      ']',
      ', j',
      ' = ',
      ' += ',
      'np.sum(',
      'x',
      '0',
      '*',
      ':',
      '\n',
      'if ',
      'else',
      '.append(',
      'while ',
      'break',
      'sum(',
      ' for v in x)',
      '[v * 2 for v in a[i]]',
      'f(',
      'return ',
      'df.iterrows()',
      'df["a"][i]',
      'i',
      '..',
      '[',
      '-',
      'max(',
      ' < ',
      'π',
      '"""',
      '\\',
    ],
  );
  const lines = fc.array(fc.string({ unit: word, maxLength: 12 }), { maxLength: 8 });
  fc.assert(
    fc.property(lines, (body) => {
      const text = body.join('\n    ');
      const start = 'import numpy as np\ndef f(x):\n    return x + 1\n';
      for (const offer of rewriteLoops(
        `${start}def g(x):\n    ${text}\nfor i in range(9):\n    ${text}\n`,
        fast,
      ))
        expect(syntaxErrors(offer.source)).toBe(0);
    }),
    { numRuns: 300 },
  );
});
