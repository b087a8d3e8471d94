import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeTree } from '../../src/lib/read-only-tree.ts';
import { fixtureTasks } from '../fixtures/fixture-task.ts';
import type { SlowPlace } from './slow-place.ts';

/** A command that works for seconds in a `SlowPlace`. */
export interface SlowCommand {
  /** Of src/cli/verbs.ts. */
  verb: string;
  /** What keeps it busy. */
  busy: string;
  argv: (place: SlowPlace) => string[];
  /** The path of a folder that it makes, in the folder of the place: complete, or absent. */
  makes?: string;
  /** Accepted besides 130, if Ctrl-C is the usual way to end it. */
  code?: 0;
  /** Seconds from its start to Ctrl-C, one attempt for each; default: `usualMoments`. */
  moments?: readonly number[];
}

export const usualMoments = [0.5, 1.5, 3, 6];
/** Seconds that a process needs to end after its work: closing files, printing. */
const lastMoment = 1;

const run = 'long/sums-oracle-0';
const experience = ['--experience', 'experience.jsonl'];
const runOn = (place: SlowPlace, task: Parameters<SlowPlace['tasks']>[0]) => [
  ...['--task-dir', place.tasks(task), 'run', '--task', 'sums', '--agent', 'baseline', '--name', task],
];
const ofLong = (verb: string, ...more: string[]): SlowCommand => ({
  ...{ verb, busy: 'a run of 130,000 events and 200,000 files' },
  argv: () => ['--task-dir', fixtureTasks, ...verb.split(' '), run, ...more],
});
const exportTo = (format: string): SlowCommand => ({
  ...ofLong('runs export', '--to', format, '--out', `exported-${format}`),
  makes: `exported-${format}`,
});
const manyTasks = (verb: string, ...more: string[]): SlowCommand => ({
  ...{ verb, busy: '1,500 tasks', moments: [0.3, 0.6, 1.2] },
  argv: (place) => ['--task-dir', place.tasks('many'), ...verb.split(' '), ...more],
});

/** Each command at least once. */
export const slowCommands: readonly SlowCommand[] = [
  manyTasks('tasks ls'),
  manyTasks('tasks show', 'sums-1400'),
  {
    ...{ verb: 'tasks check', busy: 'data of 250,000 files', moments: [9, 16] },
    argv: (place) => ['--task-dir', place.tasks('many-data-files'), 'tasks', 'check', 'sums'],
  },
  {
    ...{ verb: 'tasks baseline', busy: 'a starter that sleeps', moments: [4] },
    argv: (place) => ['--task-dir', place.tasks('sleeping'), 'tasks', 'baseline', 'sums'],
  },
  {
    ...{ verb: 'tasks new', busy: 'the packages of its environment', moments: [2] },
    argv: (place) => ['tasks', 'new', `made-${Date.now()}`, '--into', place.folder],
  },
  { verb: 'agents', busy: 'nothing', moments: [0.1], argv: () => ['agents'] },
  {
    ...{ verb: 'prepare', busy: 'data of 250,000 files', moments: [5, 12, 18, 24] },
    argv: (place) => ['--task-dir', place.tasks('many-data-files'), 'prepare', 'sums'],
  },
  {
    ...{ verb: 'run', busy: 'a sparse file of 1 TiB', moments: [3, 6] },
    argv: (place) => runOn(place, 'sparse-file'),
  },
  {
    ...{ verb: 'run', busy: 'a workspace of 200,000 files', moments: [6, 12, 20] },
    argv: (place) => runOn(place, 'many-files'),
  },
  {
    ...{ verb: 'run', busy: 'a script that sleeps', moments: [4] },
    argv: (place) => runOn(place, 'sleeping'),
  },
  {
    ...ofLong('grade', '--steps', 'all'),
    argv: (place) => ['--task-dir', place.tasks('sleeping-grader'), 'grade', run, '--steps', 'all'],
  },
  {
    ...{ verb: 'mcp', busy: 'a client that never comes', moments: [3] },
    argv: (place) => [
      '--task-dir',
      place.tasks('sleeping'),
      'mcp',
      '--task',
      'sums',
      '--name',
      'mcp',
      '--http',
      '0',
    ],
  },
  { verb: 'decide', busy: 'nothing', moments: [0.1], argv: () => ['decide', run] },
  ofLong('verify'),
  { ...ofLong('report'), argv: () => ['report', 'long'] },
  {
    ...{ verb: 'view', busy: 'nothing: it waits for pages', code: 0, moments: [4] },
    argv: () => ['view', '--no-open', '--port', '0'],
  },
  {
    ...{ verb: 'view', busy: 'an export of the long run', makes: 'pages' },
    argv: () => ['view', '--export', 'pages'],
  },
  ofLong('judge', '--model', 'openai/gpt-5-mini'),
  {
    ...{ verb: 'gateway', busy: 'nothing: it waits for programs', code: 0, moments: [3] },
    argv: () => ['gateway', '--model', 'openai/gpt-5-mini', '--port', '0'],
  },
  { ...ofLong('judge', '--model', 'openai/gpt-5-mini'), busy: 'a silent model', moments: [8] },
  { ...ofLong('runs ls'), argv: () => ['runs', 'ls', 'long'], moments: [0.3] },
  ofLong('runs show'),
  ofLong('runs trace'),
  { ...ofLong('runs calls'), moments: [0.4, 0.8] },
  ofLong('runs diff', '0', 'last'),
  { ...ofLong('runs restore', 'last', 'restored'), makes: 'restored', moments: [1.5, 3, 6, 10] },
  {
    ...ofLong('runs retry'),
    argv: () => ['--task-dir', fixtureTasks, 'runs', 'retry', 'long', '--failed', 'infrastructure'],
    moments: [0.3],
  },
  ofLong('runs check'),
  {
    // An address for documentation, at which nobody answers.
    ...{ verb: 'runs cancel', busy: 'a Redis that does not answer', moments: [1.5] },
    argv: () => ['runs', 'cancel', 'long', '--on', 'redis://192.0.2.1:6379'],
  },
  { verb: 'runs rm', busy: 'nothing', moments: [0.1], argv: () => ['runs', 'rm', 'none', '--yes'] },
  {
    ...{ verb: 'runs import', busy: '60 runs of 2 MB observations' },
    argv: () => ['runs', 'import', '--from', 'mlagentbench', 'logs', '--name', 'imported'],
  },
  ...['mlagentbench', 'jsonl', 'csv', 'parquet', 'git'].map(exportTo),
  ofLong('experience add', '--experience', 'new-experience.jsonl'),
  {
    ...{ verb: 'experience ls', busy: '100,000 entries', moments: [0.5, 1] },
    argv: () => ['experience', 'ls', ...experience],
  },
  {
    ...{ verb: 'experience search', busy: '100,000 entries', moments: [0.5, 1] },
    argv: () => ['experience', 'search', 'rate', ...experience],
  },
  {
    ...{ verb: 'models', busy: 'a silent model' },
    argv: () => ['models', '--ping', 'openai/gpt-5-mini'],
  },
  { ...ofLong('runs replay') },
  { verb: 'worker', busy: 'a job that never comes', moments: [1.5], argv: () => ['worker', '-'] },
  {
    // An address for documentation, at which nobody answers.
    ...{ verb: 'workers', busy: 'a Redis that does not answer', moments: [1.5] },
    argv: () => ['workers', '--redis', 'redis://192.0.2.1:6379'],
  },
  { verb: 'init', busy: 'nothing', moments: [0.1], argv: () => ['init', 'made'], makes: 'made' },
  { verb: 'completion', busy: 'nothing', moments: [0.1], argv: () => ['completion', 'bash'] },
  { verb: 'doctor', busy: 'nothing', moments: [0.3], argv: () => ['doctor'] },
];

export interface Interrupted {
  /** From Ctrl-C to the end of the process; null if it had ended before, or was about to. */
  seconds: number | null;
  /** As a shell reports it: 130 also for a process that was ended by SIGINT. */
  code: number | null;
  /** Processes, and an incomplete folder. */
  left: string[];
}

/** Starts a command, sends Ctrl-C while it is busy, and returns what it left behind. */
export async function interrupt(
  command: SlowCommand,
  place: SlowPlace,
  moment: number,
): Promise<Interrupted> {
  const started = place.start(command.argv(place));
  const child = started.process;
  await Promise.race([sleep(moment * 1000), started.ended]);
  const isOver = child.exitCode !== null;
  const before = performance.now();
  child.kill('SIGINT');
  const end = await started.ended;
  const seconds = (performance.now() - before) / 1000;
  const made = command.makes === undefined ? [] : [join(place.folder, command.makes)];
  try {
    // Ctrl-C at the last moment of a command that has done its work has no effect.
    const isDone = command.code === undefined && end.code === 0 && seconds < lastMoment;
    if (isOver || isDone) return { seconds: null, code: end.code, left: [] };
    // A sandbox dies with the harness, a moment later.
    for (let tries = 0; tries < 20 && processesOf(place).length > 0; tries += 1) await sleep(50);
    const left = [...processesOf(place), ...made.filter((path) => existsSync(path))];
    return { seconds, code: child.signalCode === 'SIGINT' ? 130 : end.code, left };
  } finally {
    made.forEach(removeTree);
  }
}

/** Command lines that name the place, as those of every sandbox and helper of its commands do. */
function processesOf({ folder }: SlowPlace): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const line = readFileSync(join('/proc', pid, 'cmdline'), 'utf8').replaceAll('\0', ' ');
        return line.includes(folder) ? [`${pid} ${line.slice(0, 200)}`] : [];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
}
