import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { UserError } from '../lib/errors.ts';
import { listFolderFiles } from './folder-files.ts';
import { parts } from './prepared-data.ts';
import type { PythonEnvironment } from './python-environment.ts';
import { readTaskFile } from './read-task-file.ts';
import { runProcess, tail } from './run-process.ts';
import { inTask, type Task } from './task-folder.ts';

export interface RunPrepareOptions {
  python: PythonEnvironment;
  helpers: string;
  downloads: string;
  /** Folder with the empty folders public/ and private/. */
  data: string;
  /** An empty folder to work in, created here. */
  scratch: string;
  /** As if on another machine and another day, which must not change the result. */
  elsewhere?: boolean;
  onProgress?: (message: string) => void;
  signal?: AbortSignal | null;
}

/**
 * Runs a task's prepare.py and checks its output; lines that begin with `note: ` are passed on.
 * @throws UserError with the end of its output if it fails
 */
export async function runPrepareScript(task: Task, options: RunPrepareOptions): Promise<void> {
  const folders = [
    ['--downloads', options.downloads],
    ['--public', join(options.data, 'public')],
    ['--private', join(options.data, 'private')],
    ...(task.variant === null ? [] : [['--variant', task.variant]]),
  ].flat();
  const hint =
    task.file.sources.length === 0
      ? 'fix the script, then run the same command again'
      : 'does the script fit the sources? Data from a mirror may have a different layout';
  const output = await runScript(inTask(task.folder, 'prepare'), folders, options, hint);
  for (const line of output.split(/\r?\n/))
    if (line.startsWith('note: ')) options.onProgress?.(line.slice(6));
  checkMade(task, options.data);
}

/**
 * Runs the script that lists a collection's files.
 * @throws UserError with the end of its output if it fails
 */
export async function runListScript(
  task: Task,
  script: string,
  list: string,
  options: Omit<RunPrepareOptions, 'data'>,
): Promise<void> {
  const args = ['--downloads', options.downloads, '--list', list];
  const hint = 'does the script fit the sources? Data from a mirror may have a different layout';
  await runScript(join(task.hiddenFolder, script), args, options, hint);
}

export type RunSampleOptions = Omit<RunPrepareOptions, 'data'>;

/** The same data on every machine. */
const sampleSeed = 0;

/**
 * Runs a task's sample.py, which fills the folder `downloads` with sample data in the form of the unpacked sources.
 * @throws UserError with the end of its output if it fails
 */
export async function runSampleScript(task: Task, options: RunSampleOptions): Promise<void> {
  const args = ['--downloads', options.downloads, '--seed', String(sampleSeed)];
  await runScript(
    inTask(task.folder, 'sample'),
    args,
    options,
    'fix the script: it needs no source and no network',
  );
}

async function runScript(
  script: string,
  args: readonly string[],
  options: RunSampleOptions,
  hint: string,
): Promise<string> {
  mkdirSync(options.scratch);
  const { elsewhere = false } = options;
  const wrapper = elsewhere ? [join(options.helpers, 'leaks', 'run_elsewhere.py')] : [];
  const result = await runProcess(options.python.executable, ['-I', '-B', ...wrapper, script, ...args], {
    workingDirectory: options.scratch,
    // No variables of the host: prepared data must not depend on who prepares it, and keys must stay here.
    variables: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      ...(elsewhere ? { LC_ALL: 'C', TZ: 'Pacific/Kiritimati' } : { LANG: 'C.UTF-8' }),
      HOME: options.scratch,
      TMPDIR: options.scratch,
      MLAB_HELPERS: options.helpers,
    },
    signal: options.signal ?? null,
  });
  if (result.exitCode !== 0) {
    const ending = result.signal === null ? `exit code ${result.exitCode}` : `signal ${result.signal}`;
    throw new UserError('prepare_failed', `${script} failed (${ending}):\n${tail(result.output)}`, hint);
  }
  return result.output;
}

function checkMade(task: Task, data: string): void {
  const fail = (message: string, hint: string) => {
    throw new UserError('prepare_failed', `${inTask(task.folder, 'prepare')} ${message}`, hint);
  };
  for (const part of parts) {
    const strange = listFolderFiles(join(data, part)).find((file) => file.kind !== 'file');
    if (strange !== undefined)
      fail(`made ${part}/${strange.path}, a link or special file`, 'copy the file instead');
  }
  for (const [index, file] of task.file.submission.files.entries()) {
    if (file.format !== 'csv') continue;
    const path = join(data, 'public', file.id.from);
    if (!existsSync(path))
      throw new UserError(
        'prepare_failed',
        `${placeOf(task, ['submission', 'files', index, 'id', 'from'])}: public/ has no ${file.id.from}`,
        'name the file that lists the ids of all rows, or let hidden/prepare.py make it',
      );
    const columns = headerOf(path);
    if (!columns.includes(file.id.column))
      fail(
        `made public/${file.id.from} without the column ${file.id.column}; it has ${columns.slice(0, 8).join(', ')}`,
        'name the id column in task.yaml as it is called in the file',
      );
  }
}

/** A field of task.yaml with its line. */
function placeOf(task: Task, field: readonly PropertyKey[]): string {
  const path = inTask(task.folder, 'taskFile');
  const line = readTaskFile(path).lineOf(field);
  return `${path}${line === null ? '' : `:${line}`} ${field.join('.')}`;
}

/** Column names in the first line. Quoted names with commas are parsed well enough for checking one name. */
function headerOf(path: string): string[] {
  const text = path.endsWith('.gz') ? gunzipSync(readFileSync(path)).toString('utf8') : firstBytes(path);
  const [line = ''] = text.replace(/^\ufeff/, '').split(/\r?\n/, 1);
  return [...line.matchAll(/"((?:[^"]|"")*)"|[^,]+/g)].map(([whole, quoted]) =>
    (quoted === undefined ? whole : quoted.replaceAll('""', '"')).trim(),
  );
}

function firstBytes(path: string): string {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(256 * 1024);
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0)).toString('utf8');
  } finally {
    closeSync(file);
  }
}
