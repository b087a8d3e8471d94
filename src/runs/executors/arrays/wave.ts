import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from '../../../lib/atomic-file.ts';
import { hasCode } from '../../../lib/errors.ts';
import { namesIn } from '../../../lib/files-there.ts';
import { readRegularFile } from '../../../lib/regular-file.ts';
import { type Job, RunId } from '../../../schema/index.ts';
import { parseStoredText } from '../../../store/index.ts';

const WaveName = z.string().regex(/^mlab-[0-9a-f]{12}$/);

/** `slurm/<name>/wave.json` of an experiment, or `kubernetes/…`: jobs that were submitted together as one array. */
const Wave = z.object({
  v: z.literal(1),
  /** Also the array's name at the scheduler, by which it is found if mlab ended before it learned the number. */
  name: WaveName,
  created: z.number(),
  /** The scheduler's id for the array; null until it is known. */
  id: z.string().nullable(),
  /** By index. */
  jobs: z.array(z.object({ kind: z.enum(['run', 'grade']), run: RunId })),
});
export type Wave = z.infer<typeof Wave>;

/** What `mlab worker --json` printed last. */
const WorkerResult = z.union([
  z.object({ problem: z.string().nullable(), status: z.string().nullable() }),
  z.object({ error: z.object({ code: z.string(), message: z.string() }) }),
]);
export type WorkerResult = z.infer<typeof WorkerResult>;

const maxBytes = 2 ** 22;

/** A scheduler's folder in an experiment: the submitted arrays, the documents of their jobs, and their results. */
export class WaveFolder {
  /** Absolute path. */
  readonly folder: string;

  /** @param name of the scheduler's folder */
  constructor(experiment: string, name: string) {
    this.folder = join(experiment, name);
  }

  get lock(): string {
    return join(this.folder, 'lock');
  }

  folderOf({ name }: Wave): string {
    return join(this.folder, name);
  }

  /** Written before the submission to the scheduler. */
  create(jobs: readonly Job[]): Wave {
    const name = `mlab-${randomBytes(6).toString('hex')}`;
    const named = jobs.map(({ kind, run }) => ({ kind, run: run.id }));
    const wave: Wave = { v: 1, name, created: Date.now(), id: null, jobs: named };
    const folder = this.folderOf(wave);
    for (const part of ['jobs', 'logs', 'results']) mkdirSync(join(folder, part), { recursive: true });
    for (const [index, job] of jobs.entries())
      writeFileAtomically(join(folder, 'jobs', `${index}.json`), JSON.stringify(job));
    this.write(wave);
    return wave;
  }

  write(wave: Wave): void {
    writeFileAtomically(join(this.folderOf(wave), 'wave.json'), `${JSON.stringify(wave)}\n`);
  }

  /** Oldest first. */
  read(): Wave[] {
    return namesIn(this.folder)
      .filter((name) => WaveName.safeParse(name).success)
      .flatMap((name) => {
        const path = join(this.folder, name, 'wave.json');
        const text = textOf(path);
        return text === null ? [] : [parseStoredText(Wave, text, path)];
      })
      .sort((one, other) => one.created - other.created);
  }

  /** The result that a job's worker reported; null if it did not finish. */
  resultOf(wave: Wave, index: number): WorkerResult | null {
    const text = textOf(join(this.folderOf(wave), 'results', `${index}.json`));
    if (text === null) return null;
    const parsed = WorkerResult.safeParse(jsonOf(text));
    return parsed.success ? parsed.data : null;
  }

  logOf(wave: Wave, index: number): string {
    return join(this.folderOf(wave), 'logs', `${index}.log`);
  }

  /** The end of a job's output. */
  lastLines(wave: Wave, index: number): string {
    const lines = (textOf(this.logOf(wave, index)) ?? '').trimEnd().split('\n');
    return lines.slice(-3).join('\n').slice(-500);
  }
}

function textOf(path: string): string | null {
  try {
    return readRegularFile(path, maxBytes).toString('utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
