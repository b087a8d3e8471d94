import { join, resolve } from 'node:path';
import { experienceName, experiencePath, readEntries } from '../experience/index.ts';
import type { ExperienceEntry } from '../schema/index.ts';
import type { Context } from './context.ts';
import { counted, duration, oneLine } from './table.ts';
import type { Flag } from './verb.ts';

export interface StoreFlags {
  experience?: string;
}

export const storeFlag: Flag = {
  flags: '--experience <file>',
  description: 'the store, or the folder that it is in; default: experience.jsonl in the experiments folder',
};

/** Flags of all verbs that show experience. */
export interface TaskFlags extends StoreFlags {
  task?: string;
  sameTask?: boolean;
}

export const taskFlags: Flag[] = [
  storeFlag,
  { flags: '--task <id>', description: 'what a run on this task may use, most similar tasks first' },
  { flags: '--same-task', description: 'with --task: also experience with the task itself and its variants' },
];

export function storePath(context: Context, { experience }: StoreFlags): string {
  return experience === undefined
    ? join(context.folders.experiments, experienceName)
    : experiencePath(resolve(experience));
}

/** All entries of the store; logs what can't be read. */
export function storedEntries(context: Context, flags: StoreFlags): ExperienceEntry[] {
  const path = storePath(context, flags);
  const { entries, broken } = readEntries(path);
  if (broken.length > 0)
    context.log(
      `${path}: ${counted(broken.length, 'line')} can't be read (${broken.slice(0, 5).join(', ')})`,
    );
  return entries;
}

export const entryColumns = [
  { title: 'task' },
  { title: 'outcome' },
  { title: '× noise', align: 'right' as const },
  { title: 'time', align: 'right' as const },
  { title: 'change' },
  { title: 'from' },
];

export function entryRow({
  fingerprint,
  outcome,
  effect,
  seconds,
  change,
  source,
}: ExperienceEntry): string[] {
  return [
    fingerprint.task,
    outcome.replace('_', ' '),
    noiseUnits(effect.noise_units),
    duration(seconds),
    oneLine(change.text, 60),
    oneLine(`${source.experiment}/${source.run}:${source.step}`, 60),
  ];
}

export function noiseUnits(units: number | null): string {
  return units === null ? '–' : String(Number(units.toPrecision(2)));
}
