import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Task } from '../../tasks/index.ts';

/** The module whose functions a task's grader calls; null if it calls none. */
export function calledModule({ file }: Task): { path: string; defines: readonly string[] } | null {
  if (!file.grading.runs_submission) return null;
  for (const one of file.submission.files) if (one.format === 'python' && one.defines.length > 0) return one;
  return null;
}

/** Code in `python/validation-agents/modules` that tries to deceive whatever runs, checks and times it. */
export const forgedModules: readonly { name: string; what: string }[] = [
  { name: 'stopped_clock', what: 'stop every clock' },
  { name: 'patched_comparison', what: 'make every comparison come out true' },
  { name: 'zeros', what: 'return zeros, fast' },
  { name: 'honest_once', what: 'be honest once, and return zeros, fast, from then on' },
  { name: 'memoised', what: 'hand out an answer worked out beforehand' },
  { name: 'background', what: 'work on in the background while no clock runs' },
  { name: 'disk_cache', what: 'leave answers on disk for the next process' },
  { name: 'seed_guesser', what: 'guess the seed of the inputs' },
  { name: 'slow_others', what: "slow the starter's side down" },
  { name: 'early_exit', what: 'end the process with a forged result' },
  { name: 'fake_frames', what: 'write forged frames and results to every open file' },
  { name: 'own_array', what: 'return an array that is equal to everything' },
  { name: 'memory_reader', what: "read the grader's and the starter's memory and files" },
];

/**
 * The starter's code with a forgery appended, as one file; their shared part knows the honest functions by name.
 * @param source the text of a file in `python/validation-agents`
 */
export function forgedModule(name: string, task: Task, source: (file: string) => string): string {
  const module = calledModule(task);
  if (module === null) throw new Error(`${task.file.id} has no module to forge`);
  const starter = readFileSync(join(task.environmentFolder, module.path), 'utf8');
  const empty = 'DEFINED: list[str] = []';
  const shared = source('modules/shared.py');
  if (!shared.includes(empty)) throw new Error(`modules/shared.py has no line "${empty}"`);
  const known = shared.replace(empty, `DEFINED: list[str] = ${JSON.stringify(module.defines)}`);
  const forgery = source(`modules/${name}.py`).replaceAll(/^from shared import .*\n/gm, '');
  return [starter, known, forgery].join('\n\n');
}
