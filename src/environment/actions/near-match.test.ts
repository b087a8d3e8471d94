import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearMatch, placesOf } from './near-match.ts';

const text = 'import os\n\ndef train(rate):\n\tmodel = build()\n    model.fit(rate)  \n\nprint("done")\n';

test('counts a text without overlaps, and finds the first lines in which it begins', () => {
  expect(placesOf('a\naa\nba', 'a', 9)).toEqual({ count: 4, lines: [1, 2, 2, 3] });
  expect(placesOf('a\naa\nba', 'a', 3)).toEqual({ count: 4, lines: [1, 2, 2] });
  expect(placesOf('aaaa', 'aa', 9)).toEqual({ count: 2, lines: [1, 1] });
  expect(placesOf('a\nb\na\nb\n', 'a\nb', 9)).toEqual({ count: 2, lines: [1, 3] });
  fc.assert(
    fc.property(fc.stringMatching(/^[ab\n]*$/), fc.stringMatching(/^[ab\n]{1,3}$/), (whole, part) => {
      expect(placesOf(whole, part, 2).count).toBe(whole.split(part).length - 1);
    }),
  );
});

test('finds a text with other white space, and makes the white space visible', () => {
  expect(nearMatch(text, '    model = build()\n    model.fit(rate)\n')).toBe(
    'It stands there with other white space:\n4: "\\tmodel = build()"\n5: "    model.fit(rate)  "',
  );
});

test('shows where most of a text is found, and the line that differs', () => {
  const near = nearMatch(text, 'def train(rate):\n    model = make()\n    model.fit(rate)');
  expect(near).toContain('line 4 of the file is not line 2 of old_text, "    model = make()"');
  expect(near).toContain('3: "def train(rate):"');
  expect(nearMatch(text, 'print("done")\nprint("more")')).toContain('the file ends there');
});

test('shows the most similar line where no line is equal', () => {
  expect(nearMatch(text, 'def trains(rate):')).toContain('3: "def train(rate):"');
  expect(nearMatch(text, 'nothing of the kind')).toBe(
    'No line of the file resembles the first line of old_text.',
  );
  expect(nearMatch(text, '\n \n')).toBe('It contains only whitespace.');
  expect(nearMatch('', 'a')).toBe('No line of the file resembles the first line of old_text.');
});

test('gives a bounded answer and never fails, whatever the texts are', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary', minLength: 1 }), (whole, part) => {
      expect(nearMatch(whole, part).length).toBeLessThan(4000);
    }),
  );
  expect(nearMatch('x\n'.repeat(100_000), `${'x\n'.repeat(5000)}y`).length).toBeLessThan(4000);
});
