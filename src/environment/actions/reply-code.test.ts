import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codeOfReply, fenceFor } from './reply-code.ts';

const python = { python: true };
const other = { python: false };

describe('code in a reply', () => {
  test('is looked for at once in a line of any length that only begins like a fence', () => {
    expect(codeOfReply(`${'~'.repeat(1_000_000)}\``, other)).toMatchObject({ ok: false });
    expect(codeOfReply(`${'~'.repeat(1_000_000)}\nx\n${'~'.repeat(1_000_000)}`, other)).toMatchObject({
      ok: true,
      code: 'x',
    });
  });

  test.each([
    ['a fenced block', '```python\nx = 1\n```', 'x = 1'],
    ['text around it', 'Sure:\n\n```py\nx = 1\n\ny = 2\n```\nDone.', 'x = 1\n\ny = 2'],
    ['tildes and no label', '~~~\nx = 1\n~~~', 'x = 1'],
    ['line breaks of Windows', '```python\r\nx = 1\r\ny = 2\r\n```\r\n', 'x = 1\ny = 2'],
    [
      'a block in a list, its own indentation aside',
      '- so:\n  ```\n  if x:\n      y()\n  ```',
      'if x:\n    y()',
    ],
    [
      'an indented block of code that is not',
      '     ```python\ndef f():\n    return 1\n     ```',
      'def f():\n    return 1',
    ],
    ['a block with a fence within a text', '```\nx = """\n    ```\n"""\n```', 'x = """\n    ```\n"""'],
    ['tags instead of fences', '[PYTHON]\nx = 1\n[/PYTHON]', 'x = 1'],
    ['a tag and a fence', '  \n[PYTHON]\nx = [1]\n\n```', 'x = [1]\n'],
    ['a block whose last fence is indented', '```python\nif x:\n    y()\n    ```\n', 'if x:\n    y()'],
    ['an indented first line', '```\n    return 1\n```', '    return 1'],
    ['blank lines at the ends of the block', '```\n\nx = 1\n\n```', '\nx = 1\n'],
    ['a longer fence around a shorter one', '````\n"""\n```\na\n```\n"""\n````', '"""\n```\na\n```\n"""'],
    ['the whole reply', '\n\n    x = 1\n    y = 2\n', '    x = 1\n    y = 2'],
    ['a single statement', 'import numpy\n', 'import numpy'],
  ])('is taken from %s', (_, reply, code) => {
    expect(codeOfReply(reply, python)).toMatchObject({ ok: true, code });
  });

  test('is the block that is longer than all others together, and a notice says that there were more', () => {
    const long = 'x = 1\n'.repeat(20).trim();
    const reply = `Run\n\`\`\`bash\npip install numpy\n\`\`\`\nthen\n\`\`\`\n${long}\n\`\`\``;
    expect(codeOfReply(reply, other)).toMatchObject({
      ok: true,
      code: long,
      notice: 'The reply held 2 code blocks; one of them was taken.',
    });
  });

  test('is a Python block rather than a longer one of another language', () => {
    const reply = '```python\nx = 1\n```\nIt prints\n```text\n1 and very much more than that\n```';
    expect(codeOfReply(reply, python)).toMatchObject({ ok: true, code: 'x = 1' });
  });

  test.each([
    ['nothing', '', 'it is empty'],
    ['white space', ' \n\n ', 'it is empty'],
    ['an empty block', 'Here:\n```python\n\n```', 'its code block is empty'],
    ['a block that does not end', '```python\nx = 1\ny = ', 'does not end'],
    ['a refusal', 'Sorry, I will not do that', 'it contains no code block'],
    ['one word', 'Done', 'it contains no code block'],
    ['two blocks of about one size', '```\na = 1\n```\nand\n```\nb = 2\n```', 'it contains 2 code blocks'],
  ])('is not found in %s', (_, reply, problem) => {
    const found = codeOfReply(reply, python);
    expect(found.ok ? '' : found.problem).toContain(problem);
  });

  test('of another language must be in a block', () => {
    expect(codeOfReply('a: 1', other)).toMatchObject({ ok: false, problem: 'it contains no code block' });
    expect(codeOfReply('```yaml\na: 1\n```', other)).toMatchObject({ ok: true, code: 'a: 1' });
  });

  test('is unchanged by a fence made for it, whatever it contains', () => {
    const line = fc.oneof(fc.string(), fc.constantFrom('```', '````python', '~~~', '    ```', 'x = 1'));
    fc.assert(
      fc.property(fc.array(line, { minLength: 1 }), (lines) => {
        const code = lines.join('\n').replaceAll('\r', '');
        fc.pre(code.trim() !== '');
        const fence = fenceFor(code);
        expect(codeOfReply(`Here:\n${fence}python\n${code}\n${fence}\n`, other)).toMatchObject({
          ok: true,
          code,
        });
      }),
    );
  });
});
