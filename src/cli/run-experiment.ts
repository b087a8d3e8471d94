import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../lib/errors.ts';
import { isJsonObject } from '../lib/json-values.ts';
import { removeTree } from '../lib/read-only-tree.ts';
import type { ExperimentInput } from '../schema/index.ts';
import { createContext, ownVersion } from './context.ts';
import { run } from './verbs/run.ts';

export interface RunExperimentOptions {
  /** Folder of the experiments; default: `$MLAB_EXPERIMENTS` or `./experiments`. */
  dir?: string;
  /** More folders to search for tasks, besides `./tasks`. */
  taskDirs?: readonly string[];
  /** Take sources of tasks from this folder instead of the network. */
  mirror?: string;
  /** Small synthetic data of the same format, with no download; results get a caveat. */
  sample?: boolean;
  /** Stops the runs; the same call resumes them. */
  signal?: AbortSignal;
  /** Receives the progress lines of `mlab run`. */
  onProgress?: (line: string) => void;
}

/**
 * Does what `mlab run FILE` does, in this process.
 * @returns the experiment's folder
 */
export async function runExperimentHere(
  experiment: ExperimentInput,
  options: RunExperimentOptions,
): Promise<string> {
  // Programs in JavaScript can give anything.
  if (![experiment, options].every(isJsonObject))
    throw new UserError(
      'bad_argument',
      'runExperiment takes an object with the keys of an experiment file, and one with options.',
      "For example: runExperiment({ tasks: ['digits'], agents: ['baseline'] }, { dir: 'experiments' })",
    );
  const { dir, taskDirs, mirror, sample, signal, onProgress } = options;
  const places = {
    ...(dir === undefined ? {} : { dir }),
    ...(taskDirs === undefined ? {} : { taskDir: [...taskDirs] }),
  };
  const stop = signal ?? new AbortController().signal;
  const context = {
    ...createContext(places, process.env, ownVersion(), stop),
    isTerminal: false,
    log: onProgress ?? (() => {}),
  };
  const scratch = mkdtempSync(join(tmpdir(), 'mlab-experiment-'));
  try {
    const file = join(scratch, 'experiment.yaml');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify(experiment));
    const { json } = await run.run(context, [file], {
      incomplete: 'continue',
      yes: true,
      ...(mirror === undefined ? {} : { mirror }),
      ...(sample === undefined ? {} : { sample }),
    });
    return (json as { folder: string }).folder;
  } finally {
    removeTree(scratch);
  }
}
