import { expect, test } from 'vitest';
import { changeIn, scriptIn } from './write-version.ts';

test('the longest complete block is the script, and what is outside of blocks says what was changed', () => {
  const text = 'Change: a larger model\n```py\nx = 1\n```\nor\n````python\n```\nx = 22\n````\n```python\ny';
  expect(scriptIn(text)).toBe('```\nx = 22\n');
  expect(changeIn(text)).toBe('a larger model');
  expect(changeIn('```\nChange: no\n```\n**Change**: yes\nno')).toBe('yes');
  expect(changeIn('```\nx\n```\nFaster.\nNext')).toBe('Faster.');
  expect(scriptIn('```python\n\n```')).toBeNull();
  expect(scriptIn('```python\nx = 1\n')).toBeNull();
});

test('a long reply of fences that open, and of empty lines, is read at once', () => {
  const text = `${'```py\n'.repeat(200_000)}${'````\n```x\n'.repeat(1)}${'\n'.repeat(500_000)}`;
  expect(scriptIn(text)).toBeNull();
  expect(changeIn(text)).toMatch(/^```py/);
});
