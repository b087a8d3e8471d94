import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { requestText } from '../../../test/fixtures/request-text.ts';
import { type PlaceOptions, WorkspacePlace } from '../../../test/fixtures/workspace-place.ts';
import { ScriptedModels } from '../../models/index.ts';

/** Texts that are not Python, so that no compiler has to check them. */
const files = { 'notes.md': '# Notes\none\ntwo\nthree\n', 'fixed/a.md': 'a\n', 'folder/b.md': 'b\n' };

function open(models: ScriptedModels, options: PlaceOptions = {}) {
  const isReadOnly = (path: string) => path.startsWith('fixed/');
  return WorkspacePlace.open({ files, models, isReadOnly, ...options });
}

function edit(place: WorkspacePlace, { script_name = 'notes.md', save_name = 'notes.md' } = {}) {
  return place.step('Edit Script (AI)', { script_name, edit_instruction: 'Change two.', save_name });
}

function editLines(place: WorkspacePlace, first: number, last: number, script_name = 'notes.md') {
  return place.step('Edit Script Segment (AI)', {
    script_name,
    start_line_number: first,
    end_line_number: last,
    edit_instruction: 'Change it.',
    save_name: script_name,
  });
}

function contentOf(place: WorkspacePlace, name = 'notes.md'): string {
  return readFileSync(join(place.workspace, name), 'utf8');
}

const block = (text: string) => `\`\`\`\n${text}\n\`\`\``;
const edited = '# Notes\none\n2\nthree';

describe('an edit by a model', () => {
  test('is saved, shown as a difference, marked as written by a model, and undone', async () => {
    const models = new ScriptedModels([`Here it is:\n${block(edited)}`]);
    await using place = await open(models);
    const answer = await edit(place);
    expect(answer).toMatchObject({ status: 'ok' });
    expect(answer.observation).toBe(
      'Saved to notes.md. Check that this is what you meant:\n' +
        '--- notes.md\n+++ notes.md\n@@ -1,4 +1,4 @@\n # Notes\n one\n-two\n+2\n three\n',
    );
    expect(contentOf(place)).toBe(`${edited}\n`);
    expect(place.events.find((event) => event.kind === 'step_finished')).toMatchObject({ by_model: true });
    await place.step('Undo Edit Script', { script_name: 'notes.md' });
    expect(contentOf(place)).toBe(files['notes.md']);
  });

  test('of a file with very many empty lines, by a reply with very many, is saved at once', async () => {
    const lines = '\n'.repeat(390_000);
    const models = new ScriptedModels([block(`one${lines}2${lines}`)]);
    await using place = await open(models, { files: { 'notes.md': `one${lines}two\n` } });
    expect(await edit(place)).toMatchObject({ status: 'ok' });
    expect(contentOf(place) === `one${lines}2\n`).toBe(true);
  });

  test('asks the editor with a constant first part, the file between markers, and the instruction', async () => {
    const models = new ScriptedModels([block(edited), block('b2')]);
    await using place = await open(models);
    await edit(place);
    await edit(place, { script_name: 'folder/b.md', save_name: 'folder/b.md' });
    const [first, second] = models.requests;
    expect(first).toMatchObject({ role: 'editor', purpose: 'edit a script' });
    expect(first?.messages[0]).toEqual(second?.messages[0]);
    expect(first?.messages[0]).toMatchObject({ role: 'system', stable: true });
    expect(requestText(first)).toMatch(
      /<<<begin (\w+) "notes.md"\n# Notes\none\ntwo\nthree\nend \1>>>[\s\S]*Change two\./,
    );
  });

  test('that is saved elsewhere leaves the script as it is, and undo restores what was overwritten', async () => {
    await using place = await open(new ScriptedModels([block(edited), block('new')]));
    expect(await edit(place, { save_name: 'folder/b.md' })).toMatchObject({ status: 'ok' });
    expect([contentOf(place), contentOf(place, 'folder/b.md')]).toEqual([files['notes.md'], `${edited}\n`]);
    await place.step('Undo Edit Script', { script_name: 'folder/b.md' });
    expect(contentOf(place, 'folder/b.md')).toBe('b\n');
    await edit(place, { save_name: 'deep/er/c.md' });
    expect(contentOf(place, 'deep/er/c.md')).toBe('new\n');
    await place.step('Undo Edit Script', { script_name: 'deep/er/c.md' });
    expect(existsSync(join(place.workspace, 'deep/er/c.md'))).toBe(false);
  });

  test('of a script that does not exist begins with an empty one, and says so', async () => {
    const models = new ScriptedModels([block('first')]);
    await using place = await open(models);
    const answer = await edit(place, { script_name: 'none.md', save_name: 'made.md' });
    expect(answer.observation).toContain('There was no none.md: the edit began with an empty script.');
    expect(contentOf(place, 'made.md')).toBe('first\n');
    expect(requestText(models.requests[0])).toContain('is still empty');
  });

  test.each([
    ['Windows line breaks and a byte order mark', '\ufeffone\r\ntwo\r\n', '\ufeffone\r\n2\r\n'],
    ['a last line without a break', 'one\ntwo', 'one\n2'],
    ['blank lines at the end', 'one\ntwo\n\n\n', 'one\n2\n\n\n'],
  ])('keeps %s', async (_, before, after) => {
    await using place = await open(new ScriptedModels([block('one\n2')]), { files: { 'notes.md': before } });
    const answer = await edit(place);
    expect(answer.observation).toContain('-two');
    expect(answer.observation).not.toContain('-one');
    expect(contentOf(place)).toBe(after);
  });

  test('with a long difference shows it cut in the middle', async () => {
    const text = Array.from({ length: 3000 }, (_, index) => `line ${index}`).join('\n');
    await using place = await open(new ScriptedModels([block(text)]));
    const { observation } = await edit(place);
    expect(observation).toMatch(/^Saved to notes\.md[\s\S]*characters cut[\s\S]*line 2999\n$/);
    expect(observation.length).toBeLessThan(20_000);
  });
});

describe('an edit that cannot be saved', () => {
  test.each([
    [
      'was cut off',
      { text: `\`\`\`\n${edited}\n\`\`\``, finish: 'length' } as const,
      'cut off at its limit of tokens',
    ],
    ['does not end', `\`\`\`\n${edited}`, 'its code block does not end'],
    ['is empty', { text: '', repeat: true }, 'it is empty'],
    ['holds no code', 'I would change two to 2.', 'it contains no code block'],
    ['holds an empty block', 'Here:\n```\n```', 'its code block is empty'],
    ['changes nothing', block('# Notes\none\ntwo\nthree'), 'the model changed nothing'],
    [
      'leaves something out',
      block('# Notes\n... rest of the file unchanged ...'),
      'left a part of the script out',
    ],
    ['is a refusal', { refused: 'not this' } as const, 'declined: not this'],
    ['was not possible', { context_too_long: '' } as const, 'longer than the language model'],
  ])('because the reply %s leaves the file as it is and says why', async (_, reply, why) => {
    await using place = await open(new ScriptedModels([reply]));
    const answer = await edit(place);
    expect(answer.status).toBe('failed');
    expect(answer.observation).toMatch(/^Nothing was saved/);
    expect(answer.observation).toContain(why);
    expect(contentOf(place)).toBe(files['notes.md']);
    const finished = place.events.find((event) => event.kind === 'step_finished');
    expect(finished).toMatchObject({ changed: [], undo: [] });
  });

  test.each([
    ['a file of the task', 'notes.md', 'fixed/a.md', 'refused', 'read-only'],
    ['data', 'notes.md', 'data/test.csv', 'refused', 'read-only'],
    ['a path outside', 'notes.md', '../notes.md', 'refused', 'leads out'],
    ['a folder', 'notes.md', 'folder', 'failed', 'folder'],
    ['a path below a file', 'notes.md', 'notes.md/x.md', 'failed', 'notes.md is not a folder'],
    ['the workspace itself', 'notes.md', '.', 'failed', 'folder'],
    ['a script outside', '../trace.jsonl', 'notes.md', 'refused', 'leads out'],
    ['a script that is a folder', 'folder', 'notes.md', 'failed', 'folder'],
    ['a script that is not text', 'binary', 'notes.md', 'failed', 'no text in UTF-8'],
    ['a script that is too large', 'large.md', 'notes.md', 'failed', 'too large'],
  ])('because of %s costs no call', async (_, script_name, save_name, status, why) => {
    const models = new ScriptedModels([]);
    await using place = await open(models);
    writeFileSync(join(place.workspace, 'binary'), Buffer.from([0xff, 0xfe, 0]));
    writeFileSync(join(place.workspace, 'large.md'), 'x'.repeat(500_000));
    const answers = [
      await edit(place, { script_name, save_name }),
      ...(script_name === 'large.md'
        ? []
        : [
            await place.step('Edit Script Segment (AI)', {
              script_name,
              start_line_number: 1,
              end_line_number: 1,
              edit_instruction: 'x',
              save_name,
            }),
          ]),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(status);
      expect(answer.observation).toContain(why);
    }
    expect(models.requests).toEqual([]);
    expect(contentOf(place)).toBe(files['notes.md']);
  });

  test('is reported as an observation whatever the model writes, and only code from a block is saved', async () => {
    const part = fc.oneof(
      fc.constantFrom(
        '```',
        '```python',
        '````',
        '~~~',
        '[PYTHON]',
        '\n',
        '...',
        '<<<begin',
        'end>>>',
        '../x',
      ),
      fc.string({ unit: 'binary' }),
    );
    let reply = '';
    await using place = await open(new ScriptedModels(() => reply), { limits: { steps: 100_000 } });
    await fc.assert(
      fc.asyncProperty(fc.array(part), async (parts) => {
        reply = parts.join('\n');
        const before = contentOf(place);
        const answers = [await edit(place), await editLines(place, 1, 1)];
        for (const { status } of answers) expect(['ok', 'failed']).toContain(status);
        if (answers.every(({ status }) => status === 'failed')) expect(contentOf(place)).toBe(before);
        else expect(reply).toMatch(/```|~~~|\[PYTHON\]/);
      }),
      { numRuns: 30 },
    );
  });

  test('because the workspace has no space says so', async () => {
    await using place = await open(new ScriptedModels([block('x'.repeat(2 ** 21))]), {
      limits: { workspace_mb: 1 },
    });
    expect(await edit(place)).toMatchObject({ status: 'workspace_full' });
    expect(contentOf(place)).toBe(files['notes.md']);
  });
});

describe('an edit of some lines by a model', () => {
  test('replaces only these lines, and shows the model the lines around them', async () => {
    const models = new ScriptedModels([block('  1\n  1½')]);
    await using place = await open(models);
    expect(await editLines(place, 2, 3)).toMatchObject({ status: 'ok' });
    expect(contentOf(place)).toBe('# Notes\n  1\n  1½\nthree\n');
    const text = requestText(models.requests[0]);
    expect(text).toMatch(
      /Lines 2 to 3[\s\S]*\none\ntwo\nend[\s\S]*Above[\s\S]*# Notes[\s\S]*Below[\s\S]*three/,
    );
    await place.step('Undo Edit Script', { script_name: 'notes.md' });
    expect(contentOf(place)).toBe(files['notes.md']);
  });

  test('treats a last line beyond the end as the end', async () => {
    await using place = await open(new ScriptedModels([block('3')]));
    await editLines(place, 4, 100);
    expect(contentOf(place)).toBe('# Notes\none\ntwo\n3\n');
  });

  test('needs lines and a script that exist', async () => {
    const models = new ScriptedModels([]);
    await using place = await open(models);
    expect((await editLines(place, 3, 2)).observation).toContain('lies before');
    expect((await editLines(place, 5, 6)).observation).toBe('There is no line 5: notes.md has 4 lines.');
    expect(await editLines(place, 1, 1, 'none.md')).toMatchObject({ status: 'failed' });
    expect(models.requests).toEqual([]);
  });

  test.each([
    ['empty', { text: '', repeat: true }],
    ['cut off', { text: block('x'), finish: 'length' } as const],
    ['unchanged', block('one\ntwo')],
  ])('is not saved if the reply is %s', async (_, reply) => {
    await using place = await open(new ScriptedModels([reply]));
    expect(await editLines(place, 2, 3)).toMatchObject({ status: 'failed' });
    expect(contentOf(place)).toBe(files['notes.md']);
  });
});

describe('a resumed run', () => {
  test('repeats recorded edits without asking, and can undo them', async () => {
    const models = new ScriptedModels([block(edited), block('last')]);
    await using place = await open(models);
    const before = await edit(place);
    await place.reopen();
    expect(await edit(place)).toEqual(before);
    expect(models.requests.length).toBe(1);
    await edit(place);
    await place.step('Undo Edit Script', { script_name: 'notes.md' });
    await place.step('Undo Edit Script', { script_name: 'notes.md' });
    expect(contentOf(place)).toBe(files['notes.md']);
  });

  test('that was stopped because no model could be reached asks again', async () => {
    const down = { fails: { failure: 'quota_exhausted' } } as const;
    const models = new ScriptedModels([down, block(edited)]);
    await using place = await open(models);
    await expect(edit(place)).rejects.toThrow('quota_exhausted');
    expect(contentOf(place)).toBe(files['notes.md']);
    await place.reopen();
    expect(await edit(place)).toMatchObject({ step: 1, status: 'ok' });
  });

  test('uses the answer that a step got before it was killed', async () => {
    const models = new ScriptedModels([block(edited)]);
    await using place = await open(models);
    await edit(place);
    // As if it was killed before the last line was on disk.
    const lines = readFileSync(place.tracePath, 'utf8').trimEnd().split('\n');
    expect(lines.at(-1)).toContain('step_finished');
    writeFileSync(place.tracePath, `${lines.slice(0, -1).join('\n')}\n`);
    writeFileSync(join(place.workspace, 'notes.md'), files['notes.md']);
    await place.reopen();
    expect(await edit(place)).toMatchObject({ step: 1, status: 'ok' });
    expect(contentOf(place)).toBe(`${edited}\n`);
    expect(models.requests.length).toBe(1);
  });
});
