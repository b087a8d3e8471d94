import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blocksOf, numbered } from './blocks.ts';

test('joined blocks are the text, none is too long, and they end at line breaks where possible', () => {
  const line = fc.oneof(fc.string({ maxLength: 30 }), fc.string({ unit: 'binary', maxLength: 80 }));
  fc.assert(
    fc.property(fc.array(line), fc.integer({ min: 2, max: 40 }), (lines, size) => {
      const text = lines.join('\n');
      const blocks = blocksOf(text, size);
      expect(blocks.map((block) => block.text).join('')).toBe(text);
      for (const [index, block] of blocks.entries()) {
        expect(block.text.length).toBeGreaterThan(0);
        expect(block.text.length).toBeLessThanOrEqual(size);
        expect(text.split('\n')[block.first - 1]).toContain(block.text.split('\n')[0]);
        const isLast = index === blocks.length - 1;
        if (!isLast && block.text.includes('\n')) expect(block.text.endsWith('\n')).toBe(true);
        expect(block.text.isWellFormed() || !text.isWellFormed()).toBe(true);
      }
      expect(blocks.at(-1)?.last ?? 1).toBe(Math.max(1, text.replace(/\n$/, '').split('\n').length));
    }),
  );
});

test('lines have their numbers in the file, also a line that spans several blocks', () => {
  const blocks = blocksOf(`one\ntwo\n${'x'.repeat(12)}\nend\n`, 8);
  expect(blocks.map(numbered)).toEqual(['1: one\n2: two', '3: xxxxxxxx', '3: xxxx', '4: end']);
});
