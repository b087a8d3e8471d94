import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readings, segmentOf } from './segment.ts';

describe('lines that replace others', () => {
  test('a range is cut out so that the parts joined are the whole text', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z ]*$/), { minLength: 1 }),
        fc.nat(),
        fc.nat(),
        (lines, one, two) => {
          const text = `${lines.join('\n')}\n`;
          const first = (one % lines.length) + 1;
          const { before, lines: cut, after } = segmentOf(text, first, first + two);
          expect([...before, ...cut, ...after]).toEqual(lines);
          expect(before.length).toBe(first - 1);
        },
      ),
    );
  });

  test('a reply that is indented like the original is taken as it is', () => {
    expect(readings(['    a', '    b'], ['    c'])).toEqual([['    c']]);
    expect(readings(['a'], ['    c'])).toEqual([['    c']]);
    expect(readings(['    a'], [''])).toEqual([['']]);
  });

  test('a lost indentation of the first line is restored first', () => {
    expect(readings(['    a', '    b'], ['c', '    d'])[0]).toEqual(['    c', '    d']);
    expect(readings(['\ta'], ['c'])).toEqual([['\tc'], ['c']]);
    expect(readings(['', '    a'], ['', 'c'])[0]).toEqual(['', '    c']);
  });

  test('where all lines lost the same indentation, all get it back', () => {
    expect(readings(['    if a:', '        b'], ['if a:', '    c', '', 'd'])).toEqual([
      ['    if a:', '        c', '', '    d'],
      ['if a:', '    c', '', 'd'],
    ]);
  });

  test('where the original has less indented lines, the reply may have them too', () => {
    expect(readings(['    return 1', 'def g():'], ['x = 1', 'y = 2'])).toEqual([['x = 1', 'y = 2']]);
  });

  test('the unchanged reply is always the last reading', () => {
    const line = fc.stringMatching(/^ {0,8}[a-z]{0,2}$/);
    fc.assert(
      fc.property(fc.array(line), fc.array(line), (original, reply) => {
        expect(readings(original, reply).at(-1)).toEqual(reply);
      }),
    );
  });
});
