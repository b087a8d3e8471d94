import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { isSafePath } from '../../store/index.ts';
import { yieldToSignals } from '../yield-to-signals.ts';
import { filesBelow, isFolder } from './folder-files.ts';
import { mostOf, ReadingBudget } from './limits.ts';
import { OriginalCall, type OriginalFile, type OriginalRun } from './original-run.ts';
import { linesOf, readText } from './read-text.ts';
import { readOriginalTrace } from './read-trace.ts';
import { readTornJson } from './torn-json.ts';

const Meta = z.object({
  model: z.string().max(200).optional().catch(undefined),
  task: z.string().max(1000).optional().catch(undefined),
  run: z
    .union([z.string().max(1000), z.number().transform(String)])
    .optional()
    .catch(undefined),
  overall_time_s: z.number().min(0).nullable().catch(null),
  error: z.string().nullable().catch(null),
});

export const packedNames = ['meta.json', 'calls.jsonl.gz', 'trace.json.gz', 'snapshots.tsv.gz'] as const;

/** Reads a run in packed form: the recording, with the workspaces as listings. Never throws, whatever it contains. */
export async function readPackedRun(folder: string, signal: AbortSignal): Promise<OriginalRun> {
  const gaps: string[] = [];
  const budget = new ReadingBudget();
  const textOf = async (name: string): Promise<string> => {
    await yieldToSignals(signal);
    const before = gaps.length;
    const text = readText(join(folder, name), budget, gaps);
    if (text === null && gaps.length === before) gaps.push(`no ${name}`);
    return text ?? '';
  };
  const meta = Meta.safeParse(readTornJson(await textOf('meta.json'), budget).value);
  const said = meta.success ? meta.data : Meta.parse({});
  const trace = readOriginalTrace(await textOf('trace.json.gz'), budget);
  if (existsSync(join(folder, 'trace.json.gz'))) gaps.push(...trace.gaps);
  const calls = await readCalls(await textOf('calls.jsonl.gz'), { budget, gaps, signal });
  const snapshots = await readListings(await textOf('snapshots.tsv.gz'), { budget, gaps, signal });
  const place = dirname(folder);
  return {
    folder,
    task: said.task ?? basename(place),
    model: said.model ?? basename(dirname(place)),
    run: said.run ?? basename(folder),
    problem: trace.problem,
    steps: trace.steps,
    innerSteps: trace.innerSteps,
    calls,
    seconds: said.overall_time_s,
    error: said.error === '' ? null : said.error,
    snapshots,
    contents: await finalContents(join(folder, 'final_files'), gaps, signal),
    gaps,
    workspaceGaps: [],
  };
}

interface Reading {
  budget: ReadingBudget;
  gaps: string[];
  signal: AbortSignal;
}

const linesBetweenYields = 1000;

async function readCalls(text: string, { budget, gaps, signal }: Reading): Promise<OriginalCall[]> {
  const calls: OriginalCall[] = [];
  let lines = 0;
  for (const line of linesOf(text)) {
    if (line.trim() === '') continue;
    if (++lines % linesBetweenYields === 0) await yieldToSignals(signal);
    if (calls.length >= mostOf.calls) continue;
    const { value, torn } = readTornJson(line, budget);
    const call = OriginalCall.safeParse(value);
    if (call.success && !torn) calls.push(call.data);
  }
  if (calls.length < lines) gaps.push(`${lines - calls.length} model calls unreadable`);
  return calls;
}

/** Lines of step, path, bytes and hash, separated by tabs. The last line of a torn listing may be incomplete. */
async function readListings(
  text: string,
  { budget, gaps, signal }: Reading,
): Promise<Map<number | 'final', OriginalFile[]>> {
  const listings = new Map<number | 'final', OriginalFile[]>();
  const torn = gaps.includes('snapshots.tsv.gz torn');
  const whole = torn ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
  let bad = 0;
  let lines = 0;
  for (const line of linesOf(whole)) {
    if (line === '') continue;
    if (++lines % linesBetweenYields === 0) await yieldToSignals(signal);
    const [, step = '', path = '', bytes = '', hash = ''] =
      /^(final|\d{1,9})\t(.+)\t(\d{1,15})\t([0-9a-f]{16}|[0-9a-f]{64})$/.exec(line.replace(/\r$/, '')) ?? [];
    if (!isSafePath(path) || budget.files <= 0) {
      bad += 1;
      continue;
    }
    budget.files -= 1;
    const key = step === 'final' ? 'final' : Number(step);
    const files = listings.get(key) ?? [];
    files.push({ path, bytes: Number(bytes), hash, source: null });
    listings.set(key, files);
  }
  if (bad > 0) gaps.push(`${bad} lines of snapshots unreadable`);
  // The last listing may be incomplete.
  const last = [...listings.keys()].at(-1);
  if (torn && last !== undefined) listings.delete(last);
  return listings;
}

async function finalContents(folder: string, gaps: string[], signal: AbortSignal): Promise<string[]> {
  if (!isFolder(folder)) gaps.push('no final_files');
  const { files } = await filesBelow(folder, mostOfFinalFiles, signal);
  return files.map(({ source }) => source);
}

const mostOfFinalFiles = 10_000;
