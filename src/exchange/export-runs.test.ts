import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  logFolderFiles,
  type MadeUpRun,
  madeUpRun,
  packedFiles,
  writeFiles,
} from '../../test/fixtures/original-run.ts';
import { traceText } from '../../test/fixtures/store/trace-text.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { sha256 } from '../lib/hash.ts';
import type { ObjectId } from '../schema/index.ts';
import { type Experiment, type RunFolder, storeSnapshot } from '../store/index.ts';
import { type ExportFormat, exportRuns, importOriginalRuns } from './index.ts';

const tasks = join(import.meta.dirname, '../../tasks');

async function importFrom(folder: string, experiments: string): Promise<Experiment> {
  const { experiment } = await importOriginalRuns({
    ...{
      folders: [folder],
      name: 'imported',
      experiments,
      taskFolders: [tasks],
      sandbox: 'none',
      version: '0',
    },
    ...{ onProgress: () => {}, signal: new AbortController().signal },
  });
  return experiment;
}

async function importRun(run: MadeUpRun): Promise<{ scratch: string; experiment: Experiment }> {
  const scratch = temporaryFolder();
  writeFiles(join(scratch, 'logs/llama/digits/3'), packedFiles(run));
  return { scratch, experiment: await importFrom(join(scratch, 'logs'), join(scratch, 'experiments')) };
}

async function exportAll(experiment: Experiment, to: ExportFormat, out: string, signal?: AbortSignal) {
  const folders = experiment.runIds.map((id) => experiment.runFolder(id));
  return await exportRuns({
    ...{ folders, to, out, variables: process.env, onProgress: () => {} },
    signal: signal ?? new AbortController().signal,
  });
}

function traceOf(experiment: Experiment): string {
  return traceText(experiment.runFolder('digits-llama-3').tracePath);
}

/** The output of an ordinary git about a repository. */
function git(repository: string, ...args: string[]): string {
  return execFileSync('git', ['-C', repository, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
  });
}

/** Replaces the workspace of the run's end, as somebody may who hands on an experiment folder. */
function giveFinalSnapshot({ tracePath }: RunFolder, snapshot: ObjectId): void {
  const lines = traceText(tracePath).trimEnd().split('\n');
  const end = JSON.parse(lines.pop() ?? '');
  const text = `${[...lines, JSON.stringify({ ...end, snapshot })].join('\n')}\n`;
  rmSync(`${tracePath}.zst`, { force: true });
  writeFileSync(tracePath, text);
}

test('exported log folders of the original are imported as the same trace, byte for byte', async () => {
  const { scratch, experiment } = await importRun(madeUpRun());
  await exportAll(experiment, 'mlagentbench', join(scratch, 'out'));
  const run = join(scratch, 'out/llama/digits/3');
  expect(readdirSync(run).sort()).toEqual(['agent_log', 'env_log']);
  expect(readFileSync(join(run, 'env_log/traces/step_2_files/train.py'), 'utf8')).toBe('print("0.25")\n');
  expect(readFileSync(join(run, 'env_log/overall_time.txt'), 'utf8')).toBe('100');
  const again = await importFrom(join(scratch, 'out'), join(scratch, 'again'));
  expect(traceOf(again)).toBe(traceOf(experiment));
});

test('whatever texts, workspaces and times a run has, its log folder is imported as the same steps', async () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 40 });
  const path = fc.constantFrom('train.py', 'submission.csv', 'a/b.txt', 'a/c/d', 'line\nbreak', 'ünï ');
  const step = fc.record({
    name: fc.constantFrom('Read File', 'Execute Script', 'Edit Script (AI)', 'Final Answer', 'No Such Thing'),
    args: fc.dictionary(
      fc.constantFrom('file_name', 'content', '__proto__', 'x'),
      fc.jsonValue({ maxDepth: 1 }),
    ),
    observation: text,
    at: fc.nat(1e6).map((milliseconds) => milliseconds / 1000),
    files: fc.dictionary(path, text),
  });
  const runs = fc.record({ steps: fc.array(step, { maxLength: 5 }), final: fc.dictionary(path, text) });
  await fc.assert(
    fc.asyncProperty(runs, async (made) => {
      const steps = made.steps.toSorted((one, other) => one.at - other.at);
      const whole = madeUpRun();
      const { scratch, experiment } = await importRun({
        ...whole,
        ...made,
        steps,
        innerSteps: [],
        agentCalls: [],
        toolCalls: [],
      });
      await exportAll(experiment, 'mlagentbench', join(scratch, 'out'));
      const again = await importFrom(join(scratch, 'out'), join(scratch, 'again'));
      expect(traceOf(again)).toBe(traceOf(experiment));
    }),
    { numRuns: 15 },
  );
});

test('JSON lines contain the whole step, and what came before it', async () => {
  const { scratch, experiment } = await importRun(madeUpRun());
  await exportAll(experiment, 'jsonl', join(scratch, 'out'));
  const text = readFileSync(join(scratch, 'out/digits-llama-3.jsonl'), 'utf8');
  const lines = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  expect(lines).toHaveLength(10);
  expect(lines[2]).toMatchObject({
    ...{ experiment: 'imported', run: 'digits-llama-3', step: 3, action: 'Edit Script (AI)', status: 'ok' },
    ...{ args: { script_name: 'train.py', edit_instruction: 'halve it' }, grade: null },
    ...{ observation: 'The edited file is saved to train.py.', changed: ['backup/train.py_1', 'train.py'] },
    before: [
      { answer: '[Reasoning]: because of 0' },
      { role: 'agent' },
      { note: { Thought: 'do it' } },
    ].slice(1),
    model_calls: [
      { role: 'editor', messages: [{ role: 'user', text: 'Halve it.' }], answer: 'print("0.25")\n' },
    ],
  });
  expect(lines[9]).toMatchObject({ end: { reason: 'final_answer', final_answer: 'It is 0.25.' } });
});

test('a repository has a commit for each step, with its workspace, its time and its action', async () => {
  const { scratch, experiment } = await importRun(madeUpRun());
  const out = join(scratch, 'out');
  await exportAll(experiment, 'git', out);
  const log = git(out, 'log', '--reverse', '--format=%s|%an|%at').split('\n');
  expect(log.slice(0, 4)).toEqual([
    'Before the first step|mlagentbench|1699999995',
    'Step 1: Understand File (ok)|mlagentbench|1700000010',
    'Step 2: Append Summary to Research Log (ok)|mlagentbench|1700000015',
    'Step 3: Edit Script (AI) (ok)|mlagentbench|1700000030',
  ]);
  expect(log).toHaveLength(13);
  expect(git(out, 'show', 'HEAD:submission.csv')).toBe('id,value\n1,0.25\n');
  expect(git(out, 'diff', '--stat', 'HEAD~9', 'HEAD~8')).toContain('train.py');
  expect(git(out, 'fsck', '--strict')).toBe('');
});

test('a repository is the same for every user and all git settings, and no hooks run', async () => {
  const { scratch, experiment } = await importRun(madeUpRun());
  await exportAll(experiment, 'git', join(scratch, 'one'));
  const home = join(scratch, 'home');
  mkdirSync(join(home, 'template/hooks'), { recursive: true });
  const hook = `#!/bin/sh\ntouch ${join(scratch, 'ran')}\n`;
  for (const name of ['reference-transaction', 'post-commit', 'post-checkout'])
    writeFileSync(join(home, 'template/hooks', name), hook, { mode: 0o755 });
  writeFileSync(
    join(home, '.gitconfig'),
    `[init]\ntemplateDir = ${home}/template\ndefaultObjectFormat = sha256\n[core]\nhooksPath = ${home}/template/hooks\n` +
      '[user]\nname = somebody\nemail = else@example.org\n[commit]\ngpgSign = true\n',
  );
  const variables = {
    ...{
      PATH: process.env.PATH,
      HOME: home,
      GIT_DIR: join(scratch, 'elsewhere'),
      GIT_AUTHOR_NAME: 'somebody',
    },
    ...{
      GIT_TEMPLATE_DIR: join(home, 'template'),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.hooksPath',
    },
    GIT_CONFIG_VALUE_0: join(home, 'template/hooks'),
  };
  const folders = experiment.runIds.map((id) => experiment.runFolder(id));
  const signal = new AbortController().signal;
  await exportRuns({
    folders,
    to: 'git',
    out: join(scratch, 'two'),
    variables,
    onProgress: () => {},
    signal,
  });
  expect(git(join(scratch, 'two'), 'rev-parse', 'HEAD')).toBe(git(join(scratch, 'one'), 'rev-parse', 'HEAD'));
  expect(existsSync(join(scratch, 'ran'))).toBe(false);
  expect(existsSync(join(scratch, 'elsewhere'))).toBe(false);
});

test('hostile names and contents of files do not damage a repository', async () => {
  const run = madeUpRun();
  const hostile = {
    ...{
      '.git/hooks/post-checkout': '#!/bin/sh\ntouch ../ran\n',
      'sub/.GIT/config': '[core]\n',
      'git~1/config': 'x',
    },
    ...{
      'new\nline "quoted" \\ back': 'from refs/heads/x\ndone\n',
      '-rf': 'data 5\n',
      ' ünï\t': 'deleteall\n',
    },
    ...{
      '.gitmodules': '[submodule "a"]\npath = a\nurl = -u./x\n',
      '.gitattributes': '* filter=evil ident\n',
    },
  };
  const [, second] = run.steps;
  if (second === undefined) throw new Error('the run has two steps');
  second.observation = 'data 3\n\nauthor somebody\n\u001b[31mred\u0000';
  const scratch = temporaryFolder();
  const files = logFolderFiles({ ...run, final: hostile });
  writeFiles(join(scratch, 'logs/llama/digits/3'), files);
  const experiment = await importFrom(join(scratch, 'logs'), join(scratch, 'experiments'));
  await exportAll(experiment, 'git', join(scratch, 'out'));
  execFileSync('git', ['clone', '--quiet', join(scratch, 'out'), join(scratch, 'clone')], {
    env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
  });
  const names = Object.keys(hostile).filter((path) => !/git(?:\/|~)/i.test(path));
  expect(readdirSync(join(scratch, 'clone')).sort()).toEqual(['.git', ...names].sort());
  expect(readFileSync(join(scratch, 'clone/-rf'), 'utf8')).toBe('data 5\n');
  expect(existsSync(join(scratch, 'ran'))).toBe(false);
  expect(git(join(scratch, 'out'), 'log', '-1', '--format=%b')).toContain('  .git\n');
  expect(git(join(scratch, 'out'), 'log', '--format=%B')).not.toMatch(/[\0\u001b]/);
});

test('a folder that is not empty is left unchanged', async () => {
  const { scratch, experiment } = await importRun(madeUpRun());
  writeFileSync(join(scratch, 'mine'), 'mine');
  for (const to of ['mlagentbench', 'jsonl', 'git'] as const) {
    for (const out of [scratch, join(scratch, 'mine')])
      await expect(exportAll(experiment, to, out)).rejects.toMatchObject({ code: 'not_empty' });
  }
  expect(sha256(readFileSync(join(scratch, 'mine')))).toBe(sha256('mine'));
});

test('an export that is stopped ends at once', async () => {
  const { scratch, experiment } = await importRun(madeUpRun());
  for (const to of ['mlagentbench', 'jsonl', 'git'] as const) {
    const stopped = AbortSignal.abort(new Error('stopped by Ctrl-C'));
    await expect(exportAll(experiment, to, join(scratch, to), stopped)).rejects.toThrow('stopped by Ctrl-C');
  }
});

test.each(['mlagentbench', 'jsonl', 'git'] as const)(
  'a run whose files are damaged is left out as %s, and named',
  async (to) => {
    const scratch = temporaryFolder();
    for (const seed of ['3', '4'])
      writeFiles(join(scratch, 'logs/llama/digits', seed), packedFiles(madeUpRun()));
    const experiment = await importFrom(join(scratch, 'logs'), join(scratch, 'experiments'));
    writeFileSync(experiment.runFolder('digits-llama-3').tracePath, 'no trace\n');
    const { runs, unreadable } = await exportAll(experiment, to, join(scratch, to));
    expect(unreadable).toEqual(['digits-llama-3']);
    expect(runs.map(({ run }) => run)).toEqual(['digits-llama-3-2']);
    writeFileSync(experiment.runFolder('digits-llama-3-2').tracePath, 'no trace\n');
    await expect(exportAll(experiment, to, join(scratch, `${to}-2`))).rejects.toThrow('No run can be read');
  },
);

test.each(['mlagentbench', 'git'] as const)(
  'a run whose snapshot gives a file another size than its content is left out as %s: nothing of it is obeyed',
  async (to) => {
    const scratch = temporaryFolder();
    for (const seed of ['3', '4', '5'])
      writeFiles(join(scratch, 'logs/llama/digits', seed), packedFiles(madeUpRun()));
    const experiment = await importFrom(join(scratch, 'logs'), join(scratch, 'experiments'));
    const commands =
      'blob\nmark :900\ndata 2\nx\n\ncommit refs/heads/forged\ncommitter a <a@b> 0 +0000\ndata 1\nx\n' +
      'M 100644 :900 .git/config\n';
    for (const [index, size] of [3, 4_000].entries()) {
      const folder = experiment.runFolder(experiment.runIds[index] ?? '');
      const object = folder.objects.putText(`ok\n${commands}`);
      const entry = { path: 'notes.txt', object, size, mode: 0o644, mtime: 0 };
      giveFinalSnapshot(folder, storeSnapshot(folder.objects, [entry]));
    }
    const out = join(scratch, to);
    const { runs, unreadable } = await exportAll(experiment, to, out);
    expect(unreadable).toEqual(experiment.runIds.slice(0, 2));
    expect(runs.map(({ run }) => run)).toEqual(experiment.runIds.slice(2));
    if (to === 'git') expect(git(out, 'branch', '--format=%(refname:short)').trim()).toBe(runs[0]?.run);
  },
);

test('a missing git is reported', async () => {
  const { scratch, experiment } = await importRun(madeUpRun());
  const folders = experiment.runIds.map((id) => experiment.runFolder(id));
  const options = { folders, to: 'git', variables: { PATH: scratch }, onProgress: () => {} } as const;
  const { signal } = new AbortController();
  await expect(exportRuns({ ...options, out: join(scratch, 'out'), signal })).rejects.toMatchObject({
    code: 'no_git',
  });
});
