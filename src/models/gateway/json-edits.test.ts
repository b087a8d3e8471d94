import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { elementsOf, jsonPieces, membersOf, withEdits } from './json-edits.ts';

const object = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ depthSize: 'small' }), {
  noNullPrototype: true,
});
/** JSON in other writers' formats: with spaces, with line breaks, or without. */
const written = fc.tuple(object, fc.constantFrom(0, 2, '\t')).map(([value, space]) => ({
  value,
  text: JSON.stringify(value, null, space),
}));

describe('edits of JSON', () => {
  test('find the position of every member and every element of a list', () => {
    fc.assert(
      fc.property(written, ({ value, text }) => {
        const { members, isAmbiguous } = membersOf(text);
        expect(isAmbiguous).toBe(false);
        expect([...members.keys()]).toEqual(Object.keys(value));
        for (const [name, { value: span }] of members) {
          expect(JSON.parse(text.slice(span.from, span.to))).toEqual(JSON.parse(JSON.stringify(value[name])));
          if (!Array.isArray(value[name])) continue;
          const elements = elementsOf(text, span.from).map(({ from, to }) =>
            JSON.parse(text.slice(from, to)),
          );
          expect(elements).toEqual(JSON.parse(JSON.stringify(value[name])));
        }
      }),
    );
  });

  test('change what they name and nothing else', () => {
    fc.assert(
      fc.property(written, fc.nat(), fc.jsonValue(), ({ value, text }, place, other) => {
        const names = Object.keys(value);
        const name = names[place % Math.max(1, names.length)];
        const member = membersOf(text).members.get(name ?? '');
        if (name === undefined || member === undefined) return;
        const edited = withEdits(text, [{ ...member.value, text: JSON.stringify(other) }]);
        expect(JSON.parse(edited)).toEqual(JSON.parse(JSON.stringify({ ...value, [name]: other })));
        expect(edited.startsWith(text.slice(0, member.value.from))).toBe(true);
        expect(edited.endsWith(text.slice(member.value.to))).toBe(true);
      }),
    );
  });

  test('put an insertion before what is removed at the same place, and may not overlap', () => {
    const removal = { from: 1, to: 7, text: '' };
    expect(withEdits('{"a":1,"b":2}', [removal, { from: 1, to: 1, text: '"c":3,' }])).toBe('{"c":3,"b":2}');
    expect(() => withEdits('{"a":1,"b":2}', [removal, { from: 5, to: 6, text: '2' }])).toThrow('overlap');
  });

  test('cut a text into pieces that add up to it, and that recur in a longer conversation', () => {
    fc.assert(
      fc.property(written, ({ text }) => {
        expect(jsonPieces(text).join('')).toBe(text);
      }),
    );
    const body = (messages: string[]) => JSON.stringify({ model: 'x', messages, tools: ['a', 'b'] });
    const [before, after] = [jsonPieces(body(['1', '2'])), jsonPieces(body(['1', '2', '3']))];
    expect(after.filter((piece) => !before.includes(piece))).toEqual([',"3"']);
  });

  test('report that two members have the same name', () => {
    expect(membersOf('{"model":"a","mod\\u0065l":"b"}').isAmbiguous).toBe(true);
  });
});
