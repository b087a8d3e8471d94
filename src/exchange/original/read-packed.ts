import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { constants, gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { messageOf } from '../../lib/errors.ts';
import { isSafePath } from '../../store/index.ts';
import { filesBelow } from './folder-files.ts';
import { OriginalCall, type OriginalFile, type OriginalRun } from './original-run.ts';
import { readOriginalTrace } from './read-trace.ts';
import { readTornJson } from './torn-json.ts';

const Meta = z.object({
  model: z.string().optional().catch(undefined),
  task: z.string().optional().catch(undefined),
  run: z
    .union([z.string(), z.number().transform(String)])
    .optional()
    .catch(undefined),
  overall_time_s: z.number().min(0).nullable().catch(null),
  error: z.string().nullable().catch(null),
});

export const packedNames = ['meta.json', 'calls.jsonl.gz', 'trace.json.gz', 'snapshots.tsv.gz'] as const;

/** Reads a run in packed form: what was recorded, with the workspaces as listings. Never throws for what it holds. */
export function readPackedRun(folder: string): OriginalRun {
  const gaps: string[] = [];
  const meta = Meta.safeParse(readTornJson(textOf(join(folder, 'meta.json'), gaps)).value);
  const said = meta.success ? meta.data : Meta.parse({});
  const trace = readOriginalTrace(textOf(join(folder, 'trace.json.gz'), gaps));
  if (existsSync(join(folder, 'trace.json.gz'))) gaps.push(...trace.gaps);
  const place = dirname(folder);
  return {
    folder,
    task: said.task ?? basename(place),
    model: said.model ?? basename(dirname(place)),
    run: said.run ?? basename(folder),
    problem: trace.problem,
    steps: trace.steps,
    innerSteps: trace.innerSteps,
    calls: readCalls(textOf(join(folder, 'calls.jsonl.gz'), gaps), gaps),
    seconds: said.overall_time_s,
    error: said.error === '' ? null : said.error,
    snapshots: readListings(textOf(join(folder, 'snapshots.tsv.gz'), gaps), gaps),
    contents: finalContents(join(folder, 'final_files'), gaps),
    gaps,
  };
}

/** A file's text as far as it can be read; empty where there is none. */
function textOf(path: string, gaps: string[]): string {
  const name = basename(path);
  try {
    const bytes = readFileSync(path);
    if (!name.endsWith('.gz')) return bytes.toString('utf8');
    try {
      return gunzipSync(bytes).toString('utf8');
    } catch {
      gaps.push(`${name} torn`);
      return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }).toString('utf8');
    }
  } catch {
    gaps.push(existsSync(path) ? `${name} unreadable` : `no ${name}`);
    return '';
  }
}

function readCalls(text: string, gaps: string[]): OriginalCall[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const calls = lines.flatMap((line) => {
    const { value, torn } = readTornJson(line);
    const call = OriginalCall.safeParse(value);
    return call.success && !torn ? [call.data] : [];
  });
  if (calls.length < lines.length) gaps.push(`${lines.length - calls.length} model calls unreadable`);
  return calls;
}

/** Lines of step, path, bytes and hash, separated by tabs. The last line of a torn listing may be half a line. */
function readListings(text: string, gaps: string[]): Map<number | 'final', OriginalFile[]> {
  const listings = new Map<number | 'final', OriginalFile[]>();
  const torn = gaps.includes('snapshots.tsv.gz torn');
  const lines = text.split('\n');
  let bad = 0;
  for (const line of torn ? lines.slice(0, -1) : lines.filter((one) => one !== '')) {
    const [, step = '', path = '', bytes = '', hash = ''] =
      /^(final|\d{1,9})\t(.+)\t(\d{1,15})\t([0-9a-f]{16}|[0-9a-f]{64})$/.exec(line.replace(/\r$/, '')) ?? [];
    if (!isSafePath(path)) {
      bad += 1;
      continue;
    }
    const key = step === 'final' ? 'final' : Number(step);
    const files = listings.get(key) ?? [];
    files.push({ path, bytes: Number(bytes), hash, source: null });
    listings.set(key, files);
  }
  if (bad > 0) gaps.push(`${bad} lines of snapshots unreadable`);
  // The listing that was being written may lack files.
  const last = [...listings.keys()].at(-1);
  if (torn && last !== undefined) listings.delete(last);
  return listings;
}

function finalContents(folder: string, gaps: string[]): Buffer[] {
  if (!existsSync(folder)) {
    gaps.push('no final_files');
    return [];
  }
  return filesBelow(folder).files.flatMap(({ source }) => {
    try {
      return [readFileSync(source)];
    } catch (error) {
      gaps.push(`a file of final_files unreadable: ${messageOf(error)}`);
      return [];
    }
  });
}
