import { join } from 'node:path';
import type { TaskBrief, TaskFile } from '../schema/index.ts';

/** Where things lie in a task's folder. */
export const layout = {
  taskFile: 'task.yaml',
  environment: 'env',
  hidden: 'hidden',
  prepare: 'hidden/prepare.py',
  /** Makes what the sources hold, small and made up; only where task.yaml tells of it. */
  sample: 'hidden/sample.py',
  grade: 'hidden/grade.py',
  solution: 'hidden/solution',
  /** Only where the baseline is a constant. */
  constant: 'hidden/constant',
  requirements: 'requirements.txt',
} as const;

/** A task, read and found valid. */
export interface Task {
  file: TaskFile;
  /** The variant of the folder's task that it is; null for the task itself. */
  variant: string | null;
  /** Absolute path of the task's folder, named like its id without the variant. */
  folder: string;
  /** Absolute path of `env/`: what the agent's workspace starts from. */
  environmentFolder: string;
  /** Absolute path of `hidden/`: never shown to an agent. */
  hiddenFolder: string;
  /** SHA-256 over the names and contents of all the task's files. */
  version: string;
  /** The text of requirements.txt, with the hashes of its lock where there is one. */
  requirements: string;
  brief: TaskBrief;
  /** It is worked on with made-up data: its baseline and reference are those that were measured on these. */
  isSample: boolean;
  /** Where the figures in `file` come from: task.yaml, which may speak of other data, or this machine. */
  figures: 'declared' | 'of other data' | 'measured here';
}

export function inTask(folder: string, part: keyof typeof layout): string {
  return join(folder, layout[part]);
}
