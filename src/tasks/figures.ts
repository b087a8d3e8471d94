import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from '../lib/atomic-file.ts';
import type { PreparedData } from './prepared-data.ts';
import type { Task } from './task-folder.ts';

const figures = { mean: z.number(), spread: z.number(), seeds: z.int(), seconds: z.number() };

/** Figures measured on this machine's copy of a task's data, which replace those of task.yaml. */
const OwnFigures = z.object({
  schema: z.literal(1),
  baseline: z.object({ ...figures, machine: z.string() }).optional(),
  reference: z.object(figures).optional(),
});
export type OwnFigures = z.infer<typeof OwnFigures>;

export interface FiguresPlace {
  /** The project's cache folder. */
  cache: string;
}

/**
 * The task with the figures that fit its data: those measured here, if there are any, else those of task.yaml. The
 * latter count as "of other data" if they were measured on stand-in data and this is not that data.
 */
export function withFigures(task: Task, prepared: PreparedData, place: FiguresPlace): Task {
  const own = readOwn(task, prepared, place);
  const { baseline, reference } = task.file;
  const file = {
    ...task.file,
    baseline: { ...baseline, ...own.baseline },
    reference: { ...reference, ...own.reference },
  };
  return { ...task, file, figures: own.baseline === undefined ? declared(task, prepared) : 'measured here' };
}

function declared(task: Task, prepared: PreparedData): Task['figures'] {
  const standIn = task.file.data?.measured_on;
  if (standIn === undefined || task.isSample) return 'declared';
  const used = new Map(prepared.manifest.sources.map(({ file, sha256 }) => [file, sha256]));
  const files = Object.entries(standIn.sha256);
  const isStandIn = files.length > 0 && files.every(([file, sha256]) => used.get(file) === sha256);
  return isStandIn ? 'declared' : 'of other data';
}

/** Saves figures measured on this copy of the data, so that later runs on it are compared with them. */
export function saveFigures(
  task: Task,
  prepared: PreparedData,
  measured: Pick<OwnFigures, 'baseline' | 'reference'>,
  place: FiguresPlace,
): void {
  const own = { ...readOwn(task, prepared, place), ...measured };
  writeFileAtomically(pathOf(task, prepared, place), `${JSON.stringify(own, null, 2)}\n`);
}

/** A file that can't be read counts as none: it is only ever written as a whole. */
function readOwn(task: Task, prepared: PreparedData, place: FiguresPlace): OwnFigures {
  try {
    return OwnFigures.parse(JSON.parse(readFileSync(pathOf(task, prepared, place), 'utf8')));
  } catch {
    return { schema: 1 };
  }
}

/** Figures belong to one copy of the data: the name of the prepared folder is the hash of its sources. */
function pathOf(task: Task, prepared: PreparedData, { cache }: FiguresPlace): string {
  return join(cache, 'figures', task.file.id, `${basename(prepared.folder)}.json`);
}
