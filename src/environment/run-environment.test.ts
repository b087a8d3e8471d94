import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WorkspacePlace } from '../../test/fixtures/workspace-place.ts';
import { actionDefinitions } from './action-definitions.ts';
import type { StepResult } from './environment.ts';
import { RunStopped } from './run-stopped.ts';

describe('the interface', () => {
  test('an agent that asks for a model without declaring one has made a mistake, and the run continues', async () => {
    await using place = await WorkspacePlace.open();
    const messages = [{ role: 'user' as const, text: 'Hello' }];
    const asked = place.environment.ask({ role: 'agent', purpose: 'act', messages });
    await expect(asked).rejects.toThrow('does not declare that it needs a model: set needs: { model: true');
    expect(place.environment.failure).toBeNull();
    expect((await place.step('Check Budget', {})).status).toBe('ok');
  });

  test('actions and their arguments have exactly the names of the benchmark', async () => {
    await using place = await WorkspacePlace.open();
    const described = place.environment.actions.map(({ name, arguments: args }) => [
      name,
      args.map((one) => one.name),
    ]);
    expect(Object.fromEntries(described)).toEqual({
      'List Files': ['dir_path'],
      'Read File': ['file_name'],
      'Write File': ['file_name', 'content'],
      'Append File': ['file_name', 'content'],
      'Copy File': ['source', 'destination'],
      'Undo Edit Script': ['script_name'],
      'Execute Script': ['script_name'],
      'Python REPL': ['command'],
      'Inspect Script Lines': ['script_name', 'start_line_number', 'end_line_number'],
      'Edit File': ['file_name', 'old_text', 'new_text', 'replace_all'],
      'Append Summary to Research Log': ['content'],
      'Final Answer': ['final_answer'],
      'Validate Submission': [],
      'Check Budget': [],
      'Run Command': ['command'],
      'Search Files': ['pattern', 'dir_path'],
    });
    for (const { description, arguments: args } of place.environment.actions)
      for (const text of [description, ...args.map((one) => one.description)]) expect(text).not.toBe('');
  });

  test('an unknown action is answered with the one that was probably meant and all that exist', async () => {
    await using place = await WorkspacePlace.open();
    const answer = await place.step('read file', {});
    expect(answer.status).toBe('invalid');
    expect(answer.observation).toContain('Did you mean "Read File"?');
    for (const { name } of place.environment.actions) expect(answer.observation).toContain(name);
    expect((await place.step('x'.repeat(100_000))).observation.length).toBeLessThan(1000);
  });

  test.each([
    ['Read File', {}, 'the argument "file_name" is missing', '"file_name":'],
    [
      'Read File',
      { filename: 'a' },
      '"filename" is not an argument of it; did you mean "file_name"?',
      'Usage',
    ],
    ['Read File', { file_name: 7 }, 'the argument "file_name": ', 'string'],
    ['Read File', { file_name: 'train.py', lines: 3 }, '"lines" is not an argument of it', 'Usage'],
    ['Write File', { file_name: 'a', content: null }, 'the argument "content": ', 'Usage'],
    [
      'Inspect Script Lines',
      { script_name: 'a', start_line_number: 'one', end_line_number: 2 },
      'start_line_number',
      'Usage',
    ],
    [
      'Inspect Script Lines',
      { script_name: 'a', start_line_number: 0, end_line_number: 2 },
      'start_line_number',
      '>=1',
    ],
    ['Check Budget', { what: 1 }, '"what" is not an argument', 'takes no arguments: {}'],
    ['Run Command', { command: 'a\0b' }, 'NUL', 'Usage'],
    ['Run Command', { command: 'x'.repeat(200_000) }, 'put a longer text into a file', 'Usage'],
  ])('%s with %j says what is wrong and what is expected', async (name, args, problem, expected) => {
    await using place = await WorkspacePlace.open({ files: { 'train.py': '1\n' } });
    const answer = await place.step(name, args);
    expect(answer.status).toBe('invalid');
    expect(answer.observation).toContain(problem);
    expect(answer.observation).toContain(expected);
  });

  test('arguments that are not an object are reported', async () => {
    await using place = await WorkspacePlace.open();
    const manyKeys = Object.fromEntries(Array.from({ length: 400_000 }, (_, index) => [`k${index}`, 1]));
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const asked: [unknown, string][] = [
      [{ name: 'Read File' }, 'The arguments are missing'],
      [{ name: 'Read File', args: 'train.py' }, 'not a string'],
      [{ name: 'Read File', args: ['train.py'] }, 'not an array'],
      [{ name: 'Read File', args: null }, 'not null'],
      [{ name: 'Read File', args: { file_name: 1n } }, 'cannot be written as JSON'],
      [{ name: 'Read File', args: manyKeys }, 'more than 1000 names'],
      [{ name: 'Read File', args: circular }, 'cannot be written as JSON'],
      ['Read File', 'is missing'],
      [null, 'There is no action'],
      [undefined, 'There is no action'],
    ];
    for (const [action, message] of asked) {
      const answer = await place.environment.step(action as never);
      expect(answer.status).toBe('invalid');
      expect(answer.observation).toContain(message);
    }
  });

  test('a malformed action gets a useful answer, whatever it is', async () => {
    await using place = await WorkspacePlace.open({
      files: { 'train.py': 'print(1)\n', 'sub/a.txt': 'a' },
      limits: { steps: 100_000 },
    });
    const names = [...actionDefinitions.keys()].filter(
      (name) => !['Final Answer', 'Execute Script', 'Run Command', 'Python REPL'].includes(name),
    );
    const path = fc.constantFrom(
      'train.py',
      'sub',
      '..',
      '/etc/passwd',
      'data',
      'none',
      '',
      '\0',
      'sub/a.txt',
      '~',
      '\ud800',
    );
    const argumentName = fc.constantFrom(
      ...['file_name', 'script_name', 'dir_path', 'content', 'source', 'destination', 'start_line_number'],
      ...['end_line_number', 'pattern', 'constructor', '__proto__', 'toJSON', ''],
    );
    const value = fc.oneof(
      path,
      fc.anything({ withBigInt: true, withDate: true, maxDepth: 2 }),
      fc.integer(),
      fc.string(),
    );
    const name = fc.oneof(
      { arbitrary: fc.constantFrom(...names), weight: 4 },
      fc.string({ unit: 'binary' }),
      fc.anything(),
    );
    const args = fc.oneof(
      { arbitrary: fc.dictionary(argumentName, value, { maxKeys: 4 }), weight: 4 },
      fc.anything(),
    );
    const action = fc.oneof({ arbitrary: fc.record({ name, args }), weight: 6 }, fc.anything());
    const sandboxed = new Set(['Search Files', 'Validate Submission']);
    let steps = 0;
    await fc.assert(
      fc.asyncProperty(action, async (asked) => {
        if (
          typeof asked === 'object' &&
          asked !== null &&
          'name' in asked &&
          typeof asked.name === 'string' &&
          sandboxed.has(asked.name)
        )
          return;
        const answer = await place.environment.step(asked as never);
        steps += 1;
        expect(answer.step).toBe(steps);
        expect(answer.ended).toBe(false);
        expect(answer.status).not.toBe('error');
        expect(answer.observation.trim()).not.toBe('');
        expect(answer.observation.length).toBeLessThan(30_000);
      }),
      { numRuns: 300 },
    );
    const finished = place.events.filter(({ kind }) => kind === 'step_finished');
    expect(finished.length).toBe(steps);
  });
});

describe('files', () => {
  test('what is written, appended and copied can be read, and each says what it did', async () => {
    await using place = await WorkspacePlace.open();
    const said = [
      await place.step('Write File', { file_name: 'a/b.txt', content: 'one\n' }),
      await place.step('Append File', { file_name: 'a/b.txt', content: 'two\n' }),
      await place.step('Copy File', { source: 'a/b.txt', destination: 'c.txt' }),
      await place.step('Append File', { file_name: 'new.txt', content: 'x' }),
    ];
    expect(said.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(said.map(({ observation }) => observation)).toEqual([
      'Wrote 4 bytes to a/b.txt.',
      'Appended 4 bytes to a/b.txt.',
      'Copied a/b.txt to c.txt (8 bytes).',
      'Appended 1 bytes to new.txt.',
    ]);
    expect((await place.step('Read File', { file_name: 'c.txt' })).observation).toBe('one\ntwo\n');
    expect((await place.step('List Files', { dir_path: '.' })).observation).toBe('a/\nc.txt\ndata/\nnew.txt');
  });

  test('a copy onto itself keeps the file', async () => {
    await using place = await WorkspacePlace.open({ files: { 'a.txt': 'content' } });
    await place.step('Copy File', { source: 'a.txt', destination: './a.txt' });
    expect((await place.step('Read File', { file_name: 'a.txt' })).observation).toBe('content');
  });

  test('a path outside is refused, a missing one is a failure', async () => {
    await using place = await WorkspacePlace.open();
    expect((await place.step('Read File', { file_name: '../trace.jsonl' })).status).toBe('refused');
    expect((await place.step('Copy File', { source: '/etc/passwd', destination: 'p' })).status).toBe(
      'refused',
    );
    expect((await place.step('Write File', { file_name: 'data/x', content: '' })).status).toBe('refused');
    expect((await place.step('Read File', { file_name: 'none' })).status).toBe('failed');
    expect((await place.step('List Files', { dir_path: 'none' })).status).toBe('failed');
  });

  test('edits that would exceed the size limit of the workspace are refused, one by one and together', async () => {
    await using place = await WorkspacePlace.open({ limits: { workspace_mb: 1 } });
    const half = 'x'.repeat(600_000);
    expect((await place.step('Write File', { file_name: 'a', content: half })).status).toBe('ok');
    const statuses = [
      await place.step('Write File', { file_name: 'b', content: half }),
      await place.step('Append File', { file_name: 'a', content: half }),
      await place.step('Copy File', { source: 'a', destination: 'b' }),
    ].map(({ status }) => status);
    expect(statuses).toEqual(['workspace_full', 'workspace_full', 'workspace_full']);
    expect((await place.step('Write File', { file_name: 'a', content: 'small' })).status).toBe('ok');
    expect((await place.step('Write File', { file_name: 'b', content: half })).status).toBe('ok');
  });

  test('a long file is cut in the middle and says how much is missing', async () => {
    const middle = 'm'.repeat(100_000);
    await using place = await WorkspacePlace.open({
      files: { 'long.txt': `HEAD${'x'.repeat(30_000)}TAIL`, 'longer.txt': `HEAD${middle}é${middle}TAIL` },
    });
    const long = (await place.step('Read File', { file_name: 'long.txt' })).observation;
    expect(long).toMatch(/^HEADx+\n\[… 11008 characters cut …\]\nx+TAIL$/);
    const longer = (await place.step('Read File', { file_name: 'longer.txt' })).observation;
    expect(longer).toMatch(/^HEADm+\n\[… about 181010 of 200010 bytes cut; .*\]\nm+TAIL$/);
  });

  test('lines are shown with their numbers, at most 100 at once, with the length of the file', async () => {
    const text = Array.from({ length: 250 }, (_, index) => `line ${index + 1}`).join('\n');
    await using place = await WorkspacePlace.open({ files: { 'a.py': `${text}\n` } });
    const lines = (first: unknown, last: unknown) =>
      place.step('Inspect Script Lines', {
        script_name: 'a.py',
        start_line_number: first,
        end_line_number: last,
      });
    expect((await lines(249, 260)).observation).toBe('249: line 249\n250: line 250\n[a.py has 250 lines]');
    expect((await lines('1', ' 1 ')).observation).toBe('1: line 1\n[a.py has 250 lines]');
    expect((await lines(1, 100)).status).toBe('ok');
    expect((await lines(1, 101)).observation).toContain('At most 100 lines at once: 101');
    expect((await lines(5, 4)).observation).toContain('lies before');
    expect((await lines(251, 252)).observation).toBe('There is no line 251.\n[a.py has 250 lines]');
  });
});

describe('undo', () => {
  test('edits are undone one by one, newest first, until the file does not exist', async () => {
    await using place = await WorkspacePlace.open({ files: { 'a.py': 'zero', 'other.py': 'other' } });
    await place.step('Write File', { file_name: 'a.py', content: 'one' });
    await place.step('Append File', { file_name: './a.py', content: ' two' });
    await place.step('Copy File', { source: 'other.py', destination: 'a.py' });
    await place.step('Write File', { file_name: 'fresh/b.py', content: 'b' });
    const undo = (script_name: string) => place.step('Undo Edit Script', { script_name });
    for (const content of ['one two', 'one', 'zero']) {
      const answer = await undo('a.py');
      expect(answer.observation).toContain(content);
      expect(readFileSync(join(place.workspace, 'a.py'), 'utf8')).toBe(content);
    }
    expect(await undo('a.py')).toMatchObject({ status: 'failed' });
    expect((await undo('fresh/b.py')).observation).toContain('removed again');
    expect((await place.step('List Files', { dir_path: 'fresh' })).observation).toBe('fresh is empty.');
    expect(await undo('fresh/b.py')).toMatchObject({ status: 'failed' });
    expect((await undo('never.py')).observation).toContain('no edit of never.py');
  });

  test('it restores what the edit overwrote, also where a script changed the file in between', async () => {
    await using place = await WorkspacePlace.open({ files: { 'a.py': 'zero' } });
    await place.step('Write File', { file_name: 'a.py', content: 'one' });
    writeFileSync(join(place.workspace, 'a.py'), 'by a script');
    await place.step('Write File', { file_name: 'a.py', content: 'two' });
    await place.step('Undo Edit Script', { script_name: 'a.py' });
    expect(readFileSync(join(place.workspace, 'a.py'), 'utf8')).toBe('by a script');
    rmSync(join(place.workspace, 'a.py'));
    await place.step('Undo Edit Script', { script_name: 'a.py' });
    expect(readFileSync(join(place.workspace, 'a.py'), 'utf8')).toBe('zero');
  });

  test('an edit through a link is undone under either name, and a refused edit leaves nothing to undo', async () => {
    await using place = await WorkspacePlace.open({ files: { 'a.py': 'zero' } });
    symlinkSync('a.py', join(place.workspace, 'alias.py'));
    await place.step('Write File', { file_name: 'alias.py', content: 'one' });
    await place.step('Write File', { file_name: 'data/test.csv', content: 'one' });
    await place.step('Undo Edit Script', { script_name: 'a.py' });
    expect(readFileSync(join(place.workspace, 'a.py'), 'utf8')).toBe('zero');
    expect(await place.step('Undo Edit Script', { script_name: 'data/test.csv' })).toMatchObject({
      status: 'failed',
    });
  });

  test('edits of an earlier session can be undone in a later one', async () => {
    await using place = await WorkspacePlace.open({ files: { 'a.py': 'zero' } });
    await place.step('Write File', { file_name: 'a.py', content: 'one' });
    await place.step('Write File', { file_name: 'a.py', content: 'two' });
    await place.step('Undo Edit Script', { script_name: 'a.py' });
    await place.reopen();
    await place.step('Write File', { file_name: 'a.py', content: 'one' });
    await place.step('Write File', { file_name: 'a.py', content: 'two' });
    await place.step('Undo Edit Script', { script_name: 'a.py' });
    await place.step('Undo Edit Script', { script_name: 'a.py' });
    expect(readFileSync(join(place.workspace, 'a.py'), 'utf8')).toBe('zero');
  });
});

describe('budget', () => {
  test('Check Budget says what is left after this very step, and so does its result', async () => {
    await using place = await WorkspacePlace.open({ limits: { steps: 3, wall_seconds: 100.5 } });
    await place.step('List Files', { dir_path: '.' });
    const answer = await place.step('Check Budget');
    expect(answer.observation).toMatch(
      /^steps left: 1\nseconds left: (100|99)\ntokens left: not limited\nmoney left: not limited$/,
    );
    expect(answer.budget).toMatchObject({ steps_left: 1, steps_used: 2 });
  });

  test('the last step ends the run, and every action after it answers that it is over', async () => {
    await using place = await WorkspacePlace.open({ limits: { steps: 2 } });
    expect((await place.step('nonsense')).ended).toBe(false);
    expect(await place.step('List Files', { dir_path: '.' })).toMatchObject({ status: 'ok', ended: true });
    const late = await place.step('Write File', { file_name: 'late', content: '' });
    expect(late).toMatchObject({ status: 'closed', ended: true, step: 2 });
    expect(late.observation).toContain('shut down');
    expect(place.environment.ending?.reason).toBe('step_limit');
    expect(place.events.filter(({ kind }) => kind === 'step_finished').length).toBe(2);
  });

  test('a final answer ends the run', async () => {
    await using place = await WorkspacePlace.open();
    expect(await place.step('Final Answer', { final_answer: 'done' })).toMatchObject({
      status: 'ok',
      ended: true,
    });
    expect(place.environment.ending).toMatchObject({ reason: 'final_answer', finalAnswer: 'done' });
    expect((await place.step('Final Answer', { final_answer: 'again' })).status).toBe('closed');
  });

  test('time that passes while the agent thinks ends the run before its next action', async () => {
    await using place = await WorkspacePlace.open({ change: () => ({ secondsUsedBefore: 1e9 }) });
    const answer = await place.step('Write File', { file_name: 'late', content: '' });
    expect(answer).toMatchObject({ status: 'closed', ended: true, step: 0 });
    expect(place.environment.ending?.reason).toBe('time_limit');
    expect(place.events.some(({ kind }) => kind === 'step_started')).toBe(false);
  });
});

describe('replay', () => {
  const attempts: [string, Record<string, unknown>][] = [
    ['Write File', { file_name: 'a', content: 'one' }],
    ['nonsense', { x: 1 }],
    ['Append File', { file_name: 'a', content: '\ud83d\ude00 \ud800' }],
    ['Read File', { file_name: 'a' }],
  ];
  async function doAll(place: WorkspacePlace): Promise<StepResult[]> {
    const results = [];
    for (const [name, args] of attempts) results.push(await place.step(name, args));
    return results;
  }

  test('recorded steps are answered with the same results and nothing is performed again', async () => {
    await using place = await WorkspacePlace.open();
    const first = await doAll(place);
    const before = place.events.length;
    await place.reopen();
    appendFileSync(join(place.workspace, 'a'), ' untouched');
    expect(await doAll(place)).toEqual(first);
    expect(place.events.length).toBe(before + 1);
    expect(readFileSync(join(place.workspace, 'a'), 'utf8')).toContain('untouched');
    const next = await place.step('List Files', { dir_path: '.' });
    expect(next.step).toBe(5);
  });

  test('an agent that acts differently than recorded is stopped, with both actions named', async () => {
    await using place = await WorkspacePlace.open();
    await doAll(place);
    await place.reopen();
    await place.step('Write File', { file_name: 'a', content: 'one' });
    const other = place.step('List Files', { dir_path: '.' });
    await expect(other).rejects.toThrow(/At step 2 the agent chose "List Files".*the trace has "nonsense"/);
    await expect(place.step('nonsense', { x: 1 })).rejects.toThrow('At step 2');
    expect(place.environment.failure).not.toBeNull();
  });

  test('notes are recorded once, however often the run is resumed', async () => {
    await using place = await WorkspacePlace.open();
    const think = async () => {
      place.environment.note({ Thought: 'first' });
      await place.step('List Files', { dir_path: '.' });
      place.environment.note({ Thought: 'second' });
    };
    await think();
    await place.reopen();
    await think();
    place.environment.note({ Thought: 'third' });
    const notes = place.events.filter((event) => event.kind === 'note');
    expect(notes.map((note) => note.entries.Thought)).toEqual([
      { text: 'first' },
      { text: 'second' },
      { text: 'third' },
    ]);
  });

  test('a run that had ended ends again at the same step', async () => {
    await using place = await WorkspacePlace.open();
    await place.step('Final Answer', { final_answer: 'done' });
    await place.reopen();
    expect(await place.step('Final Answer', { final_answer: 'done' })).toMatchObject({ ended: true });
    expect(place.environment.ending).toMatchObject({ reason: 'final_answer', finalAnswer: 'done' });
  });
});

describe('the submission', () => {
  const file_name = 'submission.csv';
  test('is tracked from step to step: absent, written, rewritten with the same content, removed', async () => {
    await using place = await WorkspacePlace.open();
    const states = () =>
      place.events.flatMap((event) => (event.kind === 'step_finished' ? [event.submission] : []));
    await place.step('List Files', { dir_path: '.' });
    await place.step('Write File', { file_name, content: 'id,value\n1,2\n' });
    await place.step('List Files', { dir_path: '.' });
    await place.step('Write File', { file_name, content: 'id,value\n1,2\n' });
    rmSync(join(place.workspace, file_name));
    await place.step('Write File', { file_name: 'notes.txt', content: 'gone' });
    mkdirSync(join(place.workspace, file_name));
    await place.step('Write File', { file_name: 'notes.txt', content: 'a folder' });
    expect(states().map(({ present, written_at_step }) => [present, written_at_step])).toEqual([
      [false, null],
      [true, 2],
      [true, 2],
      [true, 4],
      [false, 5],
      [false, 6],
    ]);
    expect(states()[1]?.hash).toBe(states()[3]?.hash);
  });
});

describe('the snapshot', () => {
  const changes = (place: WorkspacePlace) =>
    place.events.flatMap((event) => (event.kind === 'step_finished' ? [event.changed] : []));

  test('of a step that can have changed nothing is the one before, without a look at the workspace', async () => {
    await using place = await WorkspacePlace.open({ files: { 'a.py': '' } });
    await place.step('Write File', { file_name: 'b.txt', content: 'b' });
    writeFileSync(join(place.workspace, 'c.txt'), 'from outside');
    await place.step('Read File', { file_name: 'a.py' });
    await place.step('Read File', { file_nam: 'a.py' });
    expect(changes(place)).toEqual([['b.txt'], [], []]);
    await place.step('Append File', { file_name: 'b.txt', content: 'b' });
    expect(changes(place).at(-1)).toEqual(['b.txt', 'c.txt']);
  });

  test('is taken after a person was asked, who may have changed files', async () => {
    const places: WorkspacePlace[] = [];
    await using place = await WorkspacePlace.open({
      askPerson: async () => {
        writeFileSync(join(places[0]?.workspace ?? '', 'from-a-person.txt'), 'help');
        return 'Look at the new file.';
      },
    });
    places.push(place);
    await place.step('List Files', { dir_path: '.' });
    await place.step('Request Help', { request: 'What now?' });
    expect(changes(place)).toEqual([[], ['from-a-person.txt']]);
  });
});

describe('failures of the harness', () => {
  test('a sandbox that cannot start stops the run, and every later step fails', async () => {
    await using place = await WorkspacePlace.open({ files: { 'a.py': '' } });
    await expect(place.step('Execute Script', { script_name: 'a.py' })).rejects.toThrow(
      'no sandbox in this test',
    );
    await expect(place.step('List Files', { dir_path: '.' })).rejects.toThrow('no sandbox in this test');
    expect(place.environment.failure).not.toBeNull();
  });

  test('a trace that cannot be written stops the run', async () => {
    await using place = await WorkspacePlace.open();
    await place.closeTrace();
    place.environment.note({ Thought: 'lost' });
    await expect(place.step('List Files', { dir_path: '.' })).rejects.toThrow('closed');
    expect(place.environment.failure).not.toBeNull();
  });

  test('a stop from outside is reported', async () => {
    const controller = new AbortController();
    await using place = await WorkspacePlace.open({ signal: controller.signal });
    controller.abort();
    await expect(place.step('List Files', { dir_path: '.' })).rejects.toBeInstanceOf(RunStopped);
  });
});
