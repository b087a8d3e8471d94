import type { Task } from '../../tasks/index.ts';

/** Whether forged modules fit: they define what `vectorization` asks for. */
export function isSpeedTask({ file }: Task): boolean {
  return (
    file.grading.runs_submission &&
    file.submission.files.some((one) => one.format === 'python' && one.defines.includes('convolve'))
  );
}

/** Code in `python/controls/modules` that tries to fool whoever runs, checks and times it. */
export const forgedModules: readonly { name: string; what: string }[] = [
  { name: 'stopped_clock', what: 'stop every clock' },
  { name: 'patched_comparison', what: 'make every comparison come out true' },
  { name: 'zeros', what: 'return zeros, fast' },
  { name: 'memoised', what: 'hand out an answer worked out beforehand' },
  { name: 'slow_others', what: "slow the starter's side down" },
  { name: 'early_exit', what: 'end the process with a forged result' },
  { name: 'fake_frames', what: 'write forged frames and results to every open file' },
  { name: 'own_array', what: 'return an array that is equal to everything' },
  { name: 'memory_reader', what: "read the grader's and the starter's memory and files" },
];
