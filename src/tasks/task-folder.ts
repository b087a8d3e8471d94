import { join } from 'node:path';
import type { TaskBrief, TaskFile } from '../schema/index.ts';

/** The layout of a task's folder. */
export const layout = {
  taskFile: 'task.yaml',
  environment: 'env',
  hidden: 'hidden',
  prepare: 'hidden/prepare.py',
  /** Makes small synthetic contents of the sources; only if task.yaml declares a sample. */
  sample: 'hidden/sample.py',
  grade: 'hidden/grade.py',
  solution: 'hidden/solution',
  /** Only if the baseline is a constant. */
  constant: 'hidden/constant',
  requirements: 'requirements.txt',
} as const;

/** A task, read and validated. */
export interface Task {
  file: TaskFile;
  /** The name of this variant of the folder's task; null for the task itself. */
  variant: string | null;
  /** Absolute path of the task's folder, named like its id without the variant. */
  folder: string;
  /** Absolute path of `env/`: what the agent's workspace starts from. */
  environmentFolder: string;
  /** Absolute path of `hidden/`: never shown to an agent. */
  hiddenFolder: string;
  /** SHA-256 over the names and contents of all the task's files. */
  version: string;
  /** The text of requirements.txt, with the hashes of its lock if there is one. */
  requirements: string;
  brief: TaskBrief;
  /** Whether it uses sample data: its baseline and reference are then those measured on that data. */
  isSample: boolean;
  /** Where the figures in `file` come from: task.yaml, whose figures may be of other data, or this machine. */
  figures: 'declared' | 'of other data' | 'measured here';
}

export function inTask(folder: string, part: keyof typeof layout): string {
  return join(folder, layout[part]);
}
