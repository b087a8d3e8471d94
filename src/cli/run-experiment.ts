import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  { dir, taskDirs, mirror, sample, signal, onProgress }: RunExperimentOptions,
): Promise<string> {
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
