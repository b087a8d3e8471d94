import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { sha256, sha256OfFile } from '../../lib/hash.ts';
import { isSafePath } from '../../store/index.ts';
import { breathe } from '../breathe.ts';
import { readCallLog } from './call-log.ts';
import { filesBelow, namesIn } from './folder-files.ts';
import { listedFiles, notRecordedName } from './not-recorded.ts';
import type { OriginalCall, OriginalFile, OriginalRole, OriginalRun } from './original-run.ts';
import { readOriginalTrace } from './read-trace.ts';

/** A stream costs more than the hash of a file of this size. */
const smallBytes = 2 ** 20;

export const logFolderNames = ['env_log', 'agent_log'] as const;

/** Reads a run as the original's log folder holds it. Never throws for what it holds. */
export async function readLogFolder(folder: string, signal: AbortSignal): Promise<OriginalRun> {
  const gaps: string[] = [];
  const environment = join(folder, 'env_log');
  const text = textOf(join(environment, 'trace.json'));
  if (text === null) gaps.push('no trace.json');
  const trace = readOriginalTrace(text ?? '');
  if (text !== null) gaps.push(...trace.gaps);
  const calls = [
    ...callsIn(join(folder, 'agent_log'), agentLogs, gaps),
    ...callsIn(join(environment, 'tool_logs'), toolLogs, gaps),
  ];
  const seconds = Number.parseFloat(textOf(join(environment, 'overall_time.txt')) ?? '');
  const place = dirname(folder);
  const asked = calls.find(({ role }) => role === 'agent')?.model ?? '';
  const error = textOf(join(environment, 'error.txt'))?.trim() ?? '';
  return {
    folder,
    task: basename(place),
    // Where the library of the model writes itself into the log instead of the model's name, the folder tells it.
    model: /^[\w./:-]+$/.test(asked) ? asked : basename(dirname(place)),
    run: basename(folder),
    problem: trace.problem,
    steps: trace.steps,
    innerSteps: trace.innerSteps,
    calls,
    seconds: Number.isFinite(seconds) && seconds >= 0 ? seconds : null,
    error: error === '' ? null : error,
    snapshots: await readSnapshots(join(environment, 'traces'), gaps, signal),
    contents: [],
    gaps,
  };
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** How the files of one folder of logs are named; the part after the step's number says which call it is. */
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

function callsIn(folder: string, { pattern, roles, counts }: LogNames, gaps: string[]): OriginalCall[] {
  if (!existsSync(folder)) gaps.push(`no ${basename(folder)}`);
  const logs = namesIn(folder).flatMap((name) => {
    const [, step, suffix, part] = pattern.exec(name) ?? [];
    const order = roles.findIndex((one) => one.suffix === suffix);
    const role = roles[order]?.role;
    if (role === undefined) return [];
    // Pieces of a long text come before the call that joins them.
    const piece = part === undefined ? Number.POSITIVE_INFINITY : Number(part);
    return [{ name, role, order, step: Number(step), piece }];
  });
  logs.sort((a, b) => a.step - b.step || a.order - b.order || (a.piece < b.piece ? -1 : 1));
  return logs.flatMap(({ name, role, step }) => {
    const { calls, torn } = readCallLog(textOf(join(folder, name)) ?? '');
    if (torn) gaps.push(`${name} torn`);
    return calls.map((call) => ({ ...call, role, [counts]: step }));
  });
}

async function readSnapshots(
  folder: string,
  gaps: string[],
  signal: AbortSignal,
): Promise<Map<number | 'final', OriginalFile[]>> {
  const snapshots = new Map<number | 'final', OriginalFile[]>();
  for (const name of namesIn(folder)) {
    const step = /^step_(final|\d{1,9})_files$/.exec(name)?.[1];
    if (step === undefined) continue;
    const files = await readWorkspace(join(folder, name), name, gaps, signal);
    if (files !== null) snapshots.set(step === 'final' ? 'final' : Number(step), files);
  }
  return snapshots;
}

async function hashOf(source: string, bytes: number): Promise<string> {
  return bytes > smallBytes ? await sha256OfFile(source) : sha256(readFileSync(source));
}

/** Null where our own export says that the workspace was not recorded. */
async function readWorkspace(
  folder: string,
  name: string,
  gaps: string[],
  signal: AbortSignal,
): Promise<OriginalFile[] | null> {
  const { files, leftOut } = filesBelow(folder);
  const found: OriginalFile[] = [];
  let unread = leftOut;
  await breathe(signal);
  for (const { path, source, bytes } of files) {
    signal.throwIfAborted();
    if (path === notRecordedName) {
      const listed = listedFiles(textOf(source) ?? '');
      if (listed === null) return null;
      found.push(...listed);
      continue;
    }
    try {
      if (!isSafePath(path)) throw new Error('no name that can be kept');
      found.push({ path, bytes, hash: await hashOf(source, bytes), source });
    } catch {
      unread += 1;
    }
  }
  if (unread > 0) gaps.push(`${name}: ${unread} entries left out`);
  return found;
}
