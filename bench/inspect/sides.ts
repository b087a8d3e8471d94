import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { flagsForRuns } from '../../scripts/project-node.mjs';
import { cacheFolder } from '../../src/lib/cache-folder.ts';
import type { SandboxDriver } from '../../src/schema/index.ts';
import { ensurePython } from '../../src/tasks/index.ts';
import type { BenchContext } from '../benchmark.ts';
import { launcher, provision } from '../task-resources.ts';

/** Runs in which each step calls a tool that prints a line. */
export interface WantedRuns {
  runs: number;
  /** Of each. */
  steps: number;
  /** Runs that are executed; the others are copies of these under their own names. */
  distinct: number;
  /** Steps of the first run after which the size is measured. */
  lookAfter?: readonly number[];
  /** At a time; default: one after the other for mlab, and Inspect AI's own default. */
  atOnce?: number;
  /** mlab's sandbox; default: none. Inspect AI uses its local one, which confines nothing. */
  sandbox?: SandboxDriver;
}

export interface MadeRuns {
  folder: string;
  /** Bytes of the folder after the requested steps; mlab only. */
  sizes: number[];
  /** The duration of the runs, without the start of the program. */
  seconds: number;
}

export interface Program {
  /** The program and its arguments. */
  argv: readonly [string, ...string[]];
  variables: NodeJS.ProcessEnv;
}

/** A system that records runs and shows them: its own commands, as people type them. */
export interface Side {
  name: string;
  make(name: string, wanted: WantedRuns): Promise<MadeRuns>;
  /** Reads all runs into a table. */
  report(folder: string): Program;
  list(folder: string): Program;
  view(folder: string, port: number): Program;
  /** The server's address of the first rows, used without a browser. */
  rowsPath: string;
  /** The first rows on the page. */
  rows: string;
  /** Where the page shows all runs, and their rows; null if they are the first rows. */
  allRuns: { hash: string; rows: string } | null;
}

const Made = z.object({ sizes: z.array(z.number()), seconds: z.number(), problems: z.array(z.string()) });

export async function mlabSide({ scratch, cache, signal }: BenchContext): Promise<Side> {
  const root = join(scratch, 'mlab');
  mkdirSync(root);
  await provision(cache, signal);
  const mlab = (...args: string[]): Program => ({
    argv: [process.execPath, launcher, ...args],
    variables: process.env,
  });
  // As `mlab` itself does, like its flags for Node, and as Python does by default.
  const variables = { ...process.env, NODE_COMPILE_CACHE: join(cache, 'node') };
  const where = ['--dir', root, '--task-dir', join(import.meta.dirname, '../tasks')];
  return {
    name: 'mlab',
    async make(name, { runs, steps, distinct, lookAfter = [], atOnce = 1, sandbox = 'none' }) {
      const folder = join(root, name);
      const child = join(import.meta.dirname, '../children/tool-calls.ts');
      const numbers = [atOnce, runs, steps, distinct, ...lookAfter].map(String);
      const printed = await outputOf(
        { argv: [process.execPath, ...flagsForRuns, child, folder, cache, sandbox, ...numbers], variables },
        signal,
      );
      const { sizes, seconds, problems } = Made.parse(JSON.parse(printed));
      if (problems.length > 0) throw new Error(`runs did not end as they should:\n${problems.join('\n')}`);
      return { folder, sizes, seconds };
    },
    report: (folder) => mlab('report', folder, ...where),
    list: (folder) => mlab('runs', 'ls', folder, ...where),
    view: (folder, port) => mlab('view', folder, '--port', String(port), '--no-open', ...where),
    rowsPath: '/api/experiments',
    rows: '.experiment-line',
    allRuns: { hash: '#/experiments/many', rows: '.runs-table tbody tr' },
  };
}

/** Inspect AI's default number of connections to a model, and so of samples, at a time. */
const usualAtOnce = 10;

/** @throws UserError if its package can't be installed */
export async function inspectSide({ scratch, log, signal }: BenchContext): Promise<Side> {
  const root = join(scratch, 'inspect');
  const here = import.meta.dirname;
  const { executable, environment } = await ensurePython(
    readFileSync(join(here, 'requirements.txt'), 'utf8'),
    { cache: cacheFolder(process.env), onProgress: log, signal },
  );
  mkdirSync(root);
  // A fresh home: caches of earlier calls must not affect the measurement.
  const variables = { ...process.env, HOME: root, XDG_DATA_HOME: undefined, XDG_CACHE_HOME: undefined };
  const program = (...argv: [string, ...string[]]): Program => ({ argv, variables });
  const inspect = join(environment, 'bin/inspect');
  return {
    name: 'Inspect AI',
    async make(name, { runs, steps, distinct, atOnce = usualAtOnce }) {
      const folder = join(root, name);
      const numbers = [atOnce, runs, steps, distinct].map(String);
      const tool = program(executable, join(here, 'tool_calls.py'), folder, ...numbers);
      return { folder, sizes: [], seconds: Number(await outputOf(tool, signal)) };
    },
    report: (folder) => program(executable, join(here, 'samples_table.py'), folder),
    list: (folder) => program(inspect, 'log', 'list', '--log-dir', folder),
    view: (folder, port) => program(inspect, 'view', '--log-dir', folder, '--port', String(port)),
    rowsPath: '/api/logs',
    // For a folder with one log it shows the samples at once.
    rows: 'a[class*=_row_]',
    allRuns: null,
  };
}

/**
 * The output of a program.
 * @throws Error with its error output, if it fails
 */
export async function outputOf({ argv, variables }: Program, signal: AbortSignal): Promise<string> {
  const [program, ...args] = argv;
  const child = spawn(program, args, { env: variables, stdio: ['ignore', 'pipe', 'pipe'], signal });
  const [printed, complaint] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (child.exitCode === 0) return printed;
  throw new Error(
    `${argv.join(' ')} ended with ${child.exitCode ?? child.signalCode}:\n${complaint.slice(-2000)}`,
  );
}
