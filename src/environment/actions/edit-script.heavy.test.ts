import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BarePython, barePython } from '../../../test/fixtures/bare-python.ts';
import { noSandbox } from '../../../test/fixtures/needs-sandbox.ts';
import { WorkspacePlace } from '../../../test/fixtures/workspace-place.ts';
import { ScriptedModels } from '../../models/index.ts';
import type { SandboxDriver } from '../../schema/index.ts';

/** Python's own compiler checks what was written, in either sandbox. */
let bare: BarePython;

beforeAll(async () => {
  bare = await barePython();
});
afterAll(() => bare[Symbol.dispose]());

const drivers: SandboxDriver[] = noSandbox === undefined ? ['none', 'bubblewrap'] : ['none'];

const script = `import math


def area(radius):
    if radius < 0:
        return 0
    return 3 * radius**2


print(area(1))
`;

const block = (text: string) => `\`\`\`python\n${text}\n\`\`\``;

function contentOf(place: WorkspacePlace): string {
  return readFileSync(join(place.workspace, 'train.py'), 'utf8');
}

describe.each(drivers)('Python in the sandbox "%s"', (driver) => {
  const open = (replies: string[], source = script) =>
    WorkspacePlace.open({
      files: { 'train.py': source },
      models: new ScriptedModels(replies),
      sandbox: { driver, python: bare.python },
    });
  const edit = (place: WorkspacePlace) =>
    place.step('Edit Script (AI)', {
      script_name: 'train.py',
      edit_instruction: 'Change it.',
      save_name: 'train.py',
    });
  const editLines = (place: WorkspacePlace, first: number, last: number) =>
    place.step('Edit Script Segment (AI)', {
      script_name: 'train.py',
      start_line_number: first,
      end_line_number: last,
      edit_instruction: 'Change it.',
      save_name: 'train.py',
    });

  test('that is valid is saved, whether in a code block or as the whole reply, and never run', async () => {
    const probe = "open('ran', 'w')\nprint('ünï')";
    await using place = await open([block(probe), `${probe}\nx = 1`]);
    expect(await edit(place)).toMatchObject({ status: 'ok' });
    expect(contentOf(place)).toBe(`${probe}\n`);
    expect(await edit(place)).toMatchObject({ status: 'ok' });
    expect((await place.step('List Files', { dir_path: '.' })).observation).not.toContain('ran');
  });

  test.each([
    [
      'an error',
      'import math\n\ndef area(radius:\n    return 1',
      /SyntaxError: .* in line 3: def area\(radius:/,
    ],
    ['a wrong indentation', 'def f():\nreturn 1', /IndentationError: .* in line 2: return 1/],
    ['a return outside of a function', 'x = 1\nreturn x', /'return' outside function in line 2/],
    ['prose', '# Sure!\nI changed the function as you told me.', /SyntaxError: .* in line 2: I changed/],
    ['too deep a nesting', `${'-'.repeat(1_000_000)}1`, /too large or too deeply nested/],
  ])('with %s is not saved, and the line is named', async (_, text, why) => {
    await using place = await open([block(text)]);
    const answer = await edit(place);
    expect(answer.status).toBe('failed');
    expect(answer.observation).toMatch(/^Nothing was saved: the edited script would not be valid Python/);
    expect(answer.observation).toMatch(why);
    expect(contentOf(place)).toBe(script);
    expect(place.events.find((event) => event.kind === 'step_finished')).toMatchObject({
      undo: [],
      changed: [],
    });
  });

  test('that replaces some lines keeps the indentation of the first, whatever the model did with it', async () => {
    const replies = [
      '    if radius <= 0:\n        return 0',
      'if radius <= 0:\n        return 0',
      'if radius <= 0:\n    return 0',
    ];
    await using place = await open(replies.map(block));
    for (const _ of replies) {
      expect(await editLines(place, 5, 6)).toMatchObject({ status: 'ok' });
      expect(contentOf(place)).toBe(script.replace('<', '<='));
      await place.step('Undo Edit Script', { script_name: 'train.py' });
    }
  });

  test('that replaces some lines must leave the whole script valid', async () => {
    await using place = await open([block('    if radius < 0:'), block('def area(radius):')]);
    const answer = await editLines(place, 5, 6);
    expect(answer.status).toBe('failed');
    expect(answer.observation).toMatch(/IndentationError: .* in line 6/);
    expect(await editLines(place, 4, 7)).toMatchObject({ status: 'failed' });
    expect(contentOf(place)).toBe(script);
  });

  test('that an exact edit breaks is saved with a warning', async () => {
    await using place = await open([]);
    const edits = [
      await place.step('Edit File', { file_name: 'train.py', old_text: '3 *', new_text: '3 * (' }),
      await place.step('Edit File', { file_name: 'train.py', old_text: '3 * (', new_text: 'math.pi *' }),
    ];
    expect(edits.map(({ status }) => status)).toEqual(['ok', 'ok']);
    expect(edits[0]?.observation).toMatch(
      /Replaced the text in line 7[\s\S]*Warning: .* not valid Python now: SyntaxError/,
    );
    expect(edits[1]?.observation).toBe('Replaced the text in line 7 of train.py.');
    expect(contentOf(place)).toContain('math.pi * radius');
  });
});
