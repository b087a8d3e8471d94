import { closeSync, fstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { hasCode } from '../../lib/errors.ts';
import { sha256OfDescriptor } from '../../lib/hash.ts';
import { openRegularFile } from '../../lib/regular-file.ts';
import { isSafePath } from '../../store/index.ts';
import { yieldToSignals } from '../yield-to-signals.ts';
import { readCallLog } from './call-log.ts';
import { entriesOf, fileNames, filesBelow, isFolder } from './folder-files.ts';
import { mostOf, ReadingBudget } from './limits.ts';
import { listedFiles, notRecordedName } from './not-recorded.ts';
import {
  isModelName,
  type OriginalCall,
  type OriginalFile,
  type OriginalRole,
  type OriginalRun,
} from './original-run.ts';
import { readText } from './read-text.ts';
import { readOriginalTrace } from './read-trace.ts';

export const logFolderNames = ['env_log', 'agent_log'] as const;

/** The workspaces of a run, and what could not be read of them. */
export interface LogWorkspaces {
  snapshots: ReadonlyMap<number | 'final', OriginalFile[]>;
  gaps: readonly string[];
}

/** Reads a run from a log folder of the original. Never throws, whatever the folder contains. */
export async function readLogFolder(
  folder: string,
  signal: AbortSignal,
  known?: LogWorkspaces,
): Promise<OriginalRun> {
  const gaps: string[] = [];
  const budget = new ReadingBudget();
  const environment = join(folder, 'env_log');
  // Its files are read by their names in it: if it is a link, they are missing.
  const textOf = (name: string): string | null =>
    isFolder(environment) ? readText(join(environment, name), budget, gaps) : null;
  const text = textOf('trace.json');
  if (text === null) gaps.push('no trace.json');
  const trace = readOriginalTrace(text ?? '', budget);
  if (text !== null) gaps.push(...trace.gaps);
  const calls = [
    ...(await callsIn(join(folder, 'agent_log'), agentLogs, { gaps, budget, signal })),
    ...(await callsIn(join(environment, 'tool_logs'), toolLogs, { gaps, budget, signal })),
  ];
  const seconds = Number.parseFloat(textOf('overall_time.txt') ?? '');
  const place = dirname(folder);
  const asked = calls.find(({ role }) => role === 'agent')?.model ?? '';
  const error = textOf('error.txt')?.trim() ?? '';
  const workspaces = known ?? (await readSnapshots(join(environment, 'traces'), { budget, signal }));
  return {
    folder,
    task: basename(place),
    // If the library of the model wrote itself into the log instead of the model's name, the folder has the name.
    model: isModelName(asked) ? asked : basename(dirname(place)),
    run: basename(folder),
    problem: trace.problem,
    steps: trace.steps,
    innerSteps: trace.innerSteps,
    calls,
    seconds: Number.isFinite(seconds) && seconds >= 0 ? seconds : null,
    error: error === '' ? null : error,
    snapshots: workspaces.snapshots,
    contents: [],
    gaps: [...gaps, ...workspaces.gaps],
    workspaceGaps: workspaces.gaps,
  };
}

/** The file names in one folder of logs; the part after the step's number says which call it is. */
interface LogNames {
  pattern: RegExp;
  roles: readonly { suffix: string; role: OriginalRole }[];
  counts: 'agent_step' | 'env_step';
}

const agentLogs: LogNames = {
  pattern: /^step_(\d{1,9})_(log|summarize_observation_log|summary_log)\.log(?:_(\d{1,9}))?$/,
  roles: [
    { suffix: 'log', role: 'agent' },
    { suffix: 'summarize_observation_log', role: 'summarize_observation' },
    { suffix: 'summary_log', role: 'summary' },
  ],
  counts: 'agent_step',
};
const toolLogs: LogNames = {
  pattern: /^step_(\d{1,9})_(tool_log)\.log(?:_(\d{1,9}))?$/,
  roles: [{ suffix: 'tool_log', role: 'tool' }],
  counts: 'env_step',
};

interface Reading {
  gaps: string[];
  budget: ReadingBudget;
  signal: AbortSignal;
}

async function callsIn(
  folder: string,
  { pattern, roles, counts }: LogNames,
  { gaps, budget, signal }: Reading,
): Promise<OriginalCall[]> {
  if (!isFolder(folder)) gaps.push(`no ${basename(folder)}`);
  const names = await fileNames(folder, pattern, mostOf.calls, signal);
  const logs = names.flatMap((name) => {
    const [, step, suffix, part] = pattern.exec(name) ?? [];
    const order = roles.findIndex((one) => one.suffix === suffix);
    const role = roles[order]?.role;
    if (role === undefined) return [];
    // Parts of a long text come before the call that joins them.
    const piece = part === undefined ? Number.POSITIVE_INFINITY : Number(part);
    return [{ name, role, order, step: Number(step), piece }];
  });
  logs.sort((a, b) => a.step - b.step || a.order - b.order || (a.piece < b.piece ? -1 : 1));
  const all: OriginalCall[] = [];
  for (const { name, role, step } of logs) {
    await yieldToSignals(signal);
    const { calls, torn } = readCallLog(
      readText(join(folder, name), budget, gaps) ?? '',
      mostOf.calls - all.length,
    );
    if (torn && gaps.length < maxGaps) gaps.push(`${name} torn`);
    for (const call of calls) all.push({ ...call, role, [counts]: step });
  }
  return all;
}

async function readSnapshots(
  folder: string,
  reading: Omit<Reading, 'gaps'>,
): Promise<{ snapshots: Map<number | 'final', OriginalFile[]>; gaps: string[] }> {
  const snapshots = new Map<number | 'final', OriginalFile[]>();
  const gaps: string[] = [];
  for (const name of await foldersIn(folder, reading.signal)) {
    const step = snapshotName.exec(name)?.[1];
    if (step === undefined) continue;
    const files = await readWorkspace(join(folder, name), name, { ...reading, gaps });
    if (files !== null) snapshots.set(step === 'final' ? 'final' : Number(step), files);
  }
  return { snapshots, gaps };
}

const snapshotName = /^step_(final|\d{1,9})_files$/;

/** The folders of workspaces, in a fixed order. */
async function foldersIn(folder: string, signal: AbortSignal): Promise<string[]> {
  const names: string[] = [];
  if (!isFolder(folder)) return names;
  for await (const { name } of entriesOf(folder, signal))
    if (snapshotName.test(name) && names.length <= mostOf.steps && isFolder(join(folder, name)))
      names.push(name);
  return names.sort();
}

/** Null if our own export says that the workspace was not recorded. */
async function readWorkspace(
  folder: string,
  name: string,
  { gaps, budget, signal }: Reading,
): Promise<OriginalFile[] | null> {
  const { files, leftOut } = await filesBelow(folder, Math.min(mostOfSnapshot, budget.files), signal);
  const found: OriginalFile[] = [];
  let unread = leftOut;
  await yieldToSignals(signal);
  for (const { path, source } of files) {
    signal.throwIfAborted();
    if (path === notRecordedName) {
      const listed = listedFiles(readText(source, budget, gaps) ?? '', budget.files);
      if (listed === null) return null;
      budget.files -= listed.length;
      found.push(...listed);
      continue;
    }
    const file = isSafePath(path) ? await readFile(path, source, signal) : null;
    if (file === null) unread += 1;
    else found.push(file);
    budget.files -= 1;
  }
  if (unread > 0 && gaps.length < maxGaps) gaps.push(`${name}: ${unread} entries left out`);
  return found;
}

const mostOfSnapshot = 100_000;
/** Only a few of them are shown. */
const maxGaps = 1000;

/** Null if it can't be read, or is too large. */
async function readFile(path: string, source: string, signal: AbortSignal): Promise<OriginalFile | null> {
  let descriptor: number | null = null;
  try {
    descriptor = openRegularFile(source);
    const bytes = fstatSync(descriptor).size;
    if (bytes > mostOf.workspaceFile) return null;
    return { path, bytes, hash: await sha256OfDescriptor(descriptor, bytes, signal), source };
  } catch (error) {
    signal.throwIfAborted();
    if (hasCode(error, 'EMFILE')) throw error;
    return null;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}
