import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  duration,
  exactDuration,
  interval,
  number,
  oneLine,
  percent,
  plain,
  size,
  table,
  terminalJson,
  terminalText,
} from './table.ts';

it('an interval has its unit once, and words if a bound has a sign', () => {
  expect(interval({ low: 0.342, high: 1 }, percent)).toBe('34.2–100 %');
  expect(interval({ low: -0.003, high: 0.017 }, (value) => percent(value, true))).toBe('−0.3 to +1.7 %');
  expect(interval({ low: 0.75, high: 0.78 }, number)).toBe('0.75–0.78');
});

describe('table', () => {
  const columns = [{ title: 'run' }, { title: 'score', align: 'right' as const }, { title: 'note' }];
  const rows = [
    ['start-1/digits-automl-0', '0.98', 'a note of some forty characters in one line'],
    ['other/digits-noop-0', '–', ''],
  ];
  const linesAt = (width: number) => stripVTControlCharacters(table(columns, rows, width)).split('\n');

  it('cuts its last text if the terminal is too narrow', () => {
    const lines = linesAt(60);
    expect(lines[2]).toMatch(/^start-1\/digits-automl-0 {3}0\.98 {2}a note of some.*…$/);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
    expect(linesAt(200)[2]).toContain('in one line');
  });

  it('becomes a block of lines for each row if no table fits', () => {
    const lines = linesAt(40);
    expect(lines).toEqual([
      'start-1/digits-automl-0',
      '  score  0.98',
      expect.stringMatching(/^ {2}note {3}a note of some.*…$/),
      'other/digits-noop-0',
      '  score  –',
    ]);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(40);
  });

  it('aligns columns by what a terminal shows', () => {
    const text = stripVTControlCharacters(
      table(
        [{ title: 'task' }, { title: 'score', align: 'right' }],
        [
          ['日本', '1'],
          ['ab', '10.5'],
        ],
      ),
    );
    expect(text.split('\n')).toEqual(['task  score', '────  ─────', '日本      1', 'ab     10.5']);
  });
});

describe('printed output', () => {
  it('keeps no escape sequences but our own colours', () => {
    const evil = '\u001b]0;title\u0007\u001b[2J\u001b[31;8mhidden\u009b2J\u001b[9999C\u202etxt\r\u0008';
    const own = '\u001b[1mtitle\u001b[22m\n';
    expect(terminalText(own)).toBe(own);
    expect(terminalText(own + evil)).not.toMatch(
      /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u202e]/,
    );
    expect(terminalText(evil)).not.toContain('\u001b');
  });

  it('is the same value as JSON', () => {
    const value = { text: 'a\u009b2J\u202eb\u001b[31m é 日' };
    expect(JSON.parse(terminalJson(JSON.stringify(value)))).toEqual(value);
    expect(terminalJson(JSON.stringify(value))).not.toMatch(/[\u009b\u202e\u001b]/);
  });

  it('has a line for each row of a table, whatever its cells contain', () => {
    expect(table([{ title: 'task' }], [['a\nb\r\nc']]).split('\n')).toHaveLength(3);
  });
});

describe('texts from agents', () => {
  it('lose escape sequences and control characters', () => {
    expect(plain('\u001b[2Jgone\u001b]0;title\u0007 \u202eevil\tok\n')).toBe('gone ·evil\tok\n');
  });

  it('never contain a control character on one line, whatever the input', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 50 }), (text, width) => {
        const line = oneLine(text, width);
        expect(line.length).toBeLessThanOrEqual(width);
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }),
    );
  });
});

describe('numbers for people', () => {
  it('keep four significant digits', () => {
    expect([number(0.123456), number(55335.19), number(0), number(null), number(1e10)]).toEqual([
      '0.1235',
      '55340',
      '0',
      '–',
      '1.00e+10',
    ]);
  });

  it('show per cent, time and size', () => {
    expect([
      percent(0.1234, true),
      percent(0.8 - 0.2, true),
      percent(-0.5, true),
      percent(1),
      percent(null),
      ...[0.9996, 0.0004, 0.99999, 1e-9].map((value) => percent(value)),
      percent(-1e-4, true),
    ]).toEqual([
      ...['+12.3 %', '+60 %', '−50 %', '100 %', '–'],
      ...['99.96 %', '0.04 %', '99.999 %', '0.0 %', '−0.01 %'],
    ]);
    expect([duration(4.21), duration(185), duration(7800)]).toEqual(['4.2 s', '3 min 05 s', '2 h 10 min']);
    expect([exactDuration(0.0314), exactDuration(0.1)]).toEqual(['31 ms', '0.1 s']);
    expect([size(12), size(2048), size(5 * 2 ** 30)]).toEqual(['12 B', '2.0 KiB', '5.0 GiB']);
  });
});
