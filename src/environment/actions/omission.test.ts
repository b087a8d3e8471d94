import { expect, test } from 'vitest';
import { omissionIn } from './omission.ts';

const script = 'import os\n\ndef load():\n    return 1\n\nload()\n';

test.each([
  'import os\n\n# ... rest of the code unchanged ...\n',
  'import os\n# … (remaining lines as before)\n',
  'import os\n# Rest of the code remains the same\n',
  'import os\n    # ... existing code ...\nload()\n',
  'import os\n# The rest of your script goes here\n',
  'import os\n... rest of the file ...\n',
])('a comment that replaces earlier lines is found: %j', (after) => {
  expect(omissionIn(script, after)).toMatch(/rest|remaining|existing/i);
});

test.each([
  ['nothing was lost', `# ... existing code ...\n${script}`],
  ['no comment replaces it', 'import os\n# The remaining samples are for testing\nload()\n'],
  ['dots are code', 'import os\ndef load(): ...\nx[..., 0]\n'],
  ['the rest is meant otherwise', 'import os\n# rest of the samples\nload()\n'],
])('it is not an omission if %s', (_, after) => {
  expect(omissionIn(script, after)).toBeNull();
});

test('a comment that the script had before the edit is not a placeholder', () => {
  const before = `# ... existing code ...\n${script}`;
  expect(omissionIn(before, before.replace('return 1', 'return 2'))).toBeNull();
});

test('a line of any length is judged at once', () => {
  const line = `# rest ${'code '.repeat(200_000)}`;
  expect(omissionIn(script, line)).toBeNull();
  expect(omissionIn(script, `# ... rest of the code ${line}`)).toHaveLength(200);
});
