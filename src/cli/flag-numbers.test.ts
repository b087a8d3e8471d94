import { expect, test } from 'vitest';
import { anyNumber, portNumber, wholeNumber } from './flag-numbers.ts';

test.each(['', ' ', '0x1', '1e0', '2.0', '-1', '+1', '0', '101', 'one', '1 '])(
  '"%s" is not a whole number from 1 to 100',
  (text) => {
    expect(() => wholeNumber(1, 100)(text, '--repeats')).toThrow(/^--repeats .*: not a valid number\.$/);
  },
);

test('whole numbers are read, up to the last one that is allowed', () => {
  expect(['1', '7', '100'].map((text) => wholeNumber(1, 100)(text, '--repeats'))).toEqual([1, 7, 100]);
  expect(['0', '65535'].map((text) => portNumber(text, '--port'))).toEqual([0, 65_535]);
  expect(() => wholeNumber(0)('9007199254740993', '--step')).toThrow();
});

test('an error names the flag, the value and what is allowed', () => {
  expect(() => portNumber('', '--http')).toThrow(
    expect.objectContaining({
      message: "--http '': not a valid number.",
      hint: 'Give a whole number from 0 to 65535.',
    }),
  );
});

test('other numbers may have a sign, a fraction and an exponent', () => {
  expect(['0.5', '-1', '1e6'].map((text) => anyNumber(text, '--money'))).toEqual([0.5, -1, 1e6]);
  for (const text of ['', ' ', '0x10', 'Infinity', '.', '1e999'])
    expect(() => anyNumber(text, '--money')).toThrow(/not a valid number/);
});
