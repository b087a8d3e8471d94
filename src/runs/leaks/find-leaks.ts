import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { helpersInside, workspaceInside } from '../../environment/index.ts';
import { removeTree } from '../../lib/read-only-tree.ts';
import { createSandbox, type SandboxSpec } from '../../sandbox/index.ts';
import type { SandboxDriver } from '../../schema/index.ts';
import { concealedBy, withheldContents, withheldPaths } from '../../tasks/index.ts';
import { createWorkspace, type TaskResources } from '../workspace.ts';
import type { LeakFindings } from './leak-check.ts';

const Leak = z.object({
  place: z.enum(['data', 'starter', 'packages']),
  where: z.string(),
  column: z.string(),
  hidden: z.string(),
  how: z.string(),
  relation: z.string(),
  strength: z.number(),
  rows: z.number(),
  share: z.number(),
});
type Leak = z.infer<typeof Leak>;

const Revealed = z.object({
  by: z.string(),
  hidden: z.string(),
  strength: z.number(),
  deviations: z.number(),
  rows: z.number(),
  /** Public columns that reveal as much; empty if none do. */
  shown: z.string(),
});
type Revealed = z.infer<typeof Revealed>;

const sameValues = 'the same values';

export const LeakReport = z.object({
  leaks: z.array(Leak),
  revealed: z.array(Revealed),
  hidden: z.array(z.string()),
  files: z.int(),
  columns: z.int(),
  unread: z.array(z.string()),
  /** Private files whose values were not searched, or only in part, each with the reason. */
  unsearched: z.array(z.string()),
  late: z.array(z.string()),
});
export type LeakReport = z.infer<typeof LeakReport>;

export interface FindLeaksOptions {
  resources: TaskResources;
  helpersFolder: string;
  sandbox: SandboxDriver;
  signal: AbortSignal;
}

/** Seconds until the script starts no more searches, and until it is ended. */
const searchSeconds = 60;
const maxSeconds = 240;
/** The threshold for what a trivial model explains: on no sound task did chance explain more. */
const maxStrength = 0.1;
const megabyte = 2 ** 20;

/** Searches for sources of hidden values, with a script that sees what an agent sees, plus the hidden data. */
export async function findLeaks(
  options: FindLeaksOptions,
): Promise<{ values: LeakFindings; order: LeakFindings }> {
  const scratch = mkdtempSync(join(tmpdir(), 'mlab-leaks-'));
  try {
    const answer = await search(options, scratch);
    const table = options.resources.task.file.submission.files.find(({ format }) => format === 'csv');
    const id = table?.format === 'csv' ? table.id.column : null;
    return { values: valuesOf(answer, id), order: orderOf(answer) };
  } finally {
    removeTree(scratch);
  }
}

async function search(options: FindLeaksOptions, scratch: string): Promise<LeakReport> {
  const { resources, sandbox: driver, signal } = options;
  const workspace = join(scratch, 'workspace');
  await createWorkspace(resources.task, workspace);
  mkdirSync(join(workspace, 'data'), { recursive: true });
  // The problem text itself may reveal too much.
  writeFileSync(join(workspace, 'problem in task.yaml'), resources.task.file.problem);
  await using sandbox = await createSandbox(driver, specOf(options, workspace));
  let printed = '';
  const script = sandbox.pathInside(`${helpersInside}/leaks/find_leaks.py`);
  const settings = JSON.stringify(settingsOf(resources, (path) => sandbox.pathInside(path)));
  const process = await sandbox.start(['python', '-I', '-B', script, settings], {
    ...{ stdin: 'none', timeoutMs: 1000 * maxSeconds, signal },
    onOutput: (chunk) => {
      printed = (printed + chunk.toString('utf8')).slice(-4 * megabyte);
    },
  });
  const end = await process.ended;
  signal.throwIfAborted();
  const line = printed.split('\n').findLast((text) => text.startsWith('@leaks '));
  if (line !== undefined) return LeakReport.parse(JSON.parse(line.slice('@leaks '.length)));
  if (end.ending === 'timed_out')
    throw new Error(
      `the search for leaks took longer than ${maxSeconds / 60} minutes: repeat it on a quiet machine, or keep the data in fewer files (arrays in .npy are read fastest)`,
    );
  throw new Error(
    `the search for leaks ended without an answer (${end.ending}, ${end.signal ?? end.exitCode}): ${printed.trim().slice(-400)}`,
  );
}

const privateInside = '/private';

function specOf({ resources, helpersFolder }: FindLeaksOptions, workspace: string): SandboxSpec {
  const { task, prepared, python, concealed } = resources;
  return {
    mounts: [
      { source: workspace, target: workspaceInside, access: 'write' },
      { source: prepared.publicFolder, target: `${workspaceInside}/data`, access: 'read' },
      { source: prepared.privateFolder, target: privateInside, access: 'read' },
      { source: helpersFolder, target: helpersInside, access: 'read' },
    ],
    hide: withheldPaths(task, python),
    withheld: withheldContents(task, python),
    concealed: [...concealed, ...concealedBy(task, prepared)],
    workingDirectory: workspaceInside,
    variables: { OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1', MKL_NUM_THREADS: '1' },
    python: { environment: python.environment, basePrefix: python.basePrefix },
    limits: {
      ...{ memoryBytes: 6144 * megabyte, processes: 64 },
      ...{ fileBytes: 256 * megabyte, temporaryBytes: 1024 * megabyte },
    },
    watch: null,
  };
}

function settingsOf({ task, python }: TaskResources, inside: (path: string) => string): object {
  const table = task.file.submission.files.find(({ format }) => format === 'csv');
  return {
    data: inside(`${workspaceInside}/data`),
    starter: inside(workspaceInside),
    private: inside(privateInside),
    packages: python.sitePackages,
    id: table?.format === 'csv' ? table.id : null,
    targets: table?.format === 'csv' ? table.columns.map(({ name }) => name) : [],
    seconds: searchSeconds,
  };
}

const remedies: Record<Leak['place'], string> = {
  data: 'Keep it out of the public data, in prepare.py. If it is public on purpose, such as a key that groups rows, leave it out of the private data: the grader reads public files from `arguments.public`.',
  starter: 'Take it out of what agents are given, in env/ or task.yaml.',
  packages: 'Name the file under "withheld" in task.yaml, or do without the package.',
};

/** What to say if no hidden values are known. */
function nothingKnown({ unsearched }: LeakReport): string {
  if (unsearched.length === 0) return 'the private data contains no tables: nothing to look for';
  return `NOT searched for what is in ${privateList(unsearched)}. Only copies of whole files were looked for. ${readable}`;
}

const readable =
  'Write hidden values as CSV or as JSON records, [{"id": 1, "label": "a"}, …], into private/, or check by hand that ' +
  'nothing public tells them.';

function privateList(unsearched: readonly string[]): string {
  return shortList(unsearched.map((said) => `private/${said}`));
}

/**
 * If the order of the rows or their ids reveal a hidden column, so does everything that is sorted, wherever it is
 * joined by them: of those, only copies of the values are reported.
 */
export function valuesOf(answer: LeakReport, id: string | null): LeakFindings {
  const { files, columns, hidden, unread, unsearched, late } = answer;
  const isPart = hidden.length > 0 && unsearched.length > 0;
  const notes = [
    hidden.length === 0
      ? nothingKnown(answer)
      : `looked for ${shortList(hidden)} in ${columns} columns of ${files} files${isPart ? '; NOT for all that private/ contains: see --json' : ''}`,
    ...(isPart ? [`NOT searched, or only in part: ${privateList(unsearched)}. ${readable}`] : []),
    ...(unread.length === 0 ? [] : [`could not read ${unread.length} files: ${shortList(unread)}`]),
    ...(late.length === 0 ? [] : [`not looked at within ${searchSeconds} s: ${shortList(late)}`]),
  ];
  const revealed = new Map(answer.revealed.filter(isLeak).map((one) => [one.hidden, one.by]));
  const leaks = answer.leaks.filter(
    (leak) =>
      isCopy(leak) || !((revealed.has(leak.hidden) && isByOrder(leak, id)) || isShown(leak, answer.revealed)),
  );
  const first = [...revealed].map(
    ([name, by]) =>
      `${by} tells the hidden ${name}: see row-order, and correct that first. What only follows from it is left out here.`,
  );
  return { faults: [...first, ...leaks.map(faultOf)], notes, notRun: hidden.length === 0 };
}

/**
 * Whether it only follows from an order that public columns show as well: a part of the ids, such as "id modulo 24", also
 * where another file has the same ids; or rows in the same order with values that reveal less than a copy does.
 */
function isShown({ column, how, hidden, strength }: Leak, revealed: readonly Revealed[]): boolean {
  const shown = revealed.filter((one) => one.hidden === hidden && one.shown !== '');
  if (shown.length > 0 && orderWords.test(how) && strength < nearlyCopied) return true;
  const [, key = '', id = ''] = /^joined by (.+) = (.+)$/.exec(how) ?? [];
  // As in "id modulo 24", or in "part 1 of id".
  const part = column.startsWith(key) ? id + column.slice(key.length) : column.slice(0, -key.length) + id;
  return shown.some(({ by }) => by === column || by === part);
}

const orderWords = /^(?:in the same order|sorted by)/;
/** From here on, the search counts a relation as a copy. */
const nearlyCopied = 0.95;

/** Sorted values of a package may match sorted labels by chance, so there a copy shows nothing. */
function isCopy({ place, relation }: Leak): boolean {
  return place !== 'packages' && relation === sameValues;
}

/** Whether rows were matched by their position or their id, and by nothing else about them. */
function isByOrder({ how }: Leak, id: string | null): boolean {
  return orderWords.test(how) || (id !== null && how.endsWith(` = ${id}`));
}

function faultOf({ place, where, column, hidden, how, relation, strength, rows, share }: Leak): string {
  const what = column === '' ? where : `${where}, ${column}`;
  const of = rows === 0 ? '' : ` of ${percentOf(share)} of the rows (${rows}), ${how}`;
  const sure = strength >= 0.995 ? '' : `, nearly: ${strength}`;
  return `${what}: tells the hidden ${hidden}${of} (${relation}${sure}). ${remedies[place]}`;
}

/** What a public column reveals as well is for agents to learn from. */
function isLeak({ strength, shown }: Revealed): boolean {
  return strength > maxStrength && shown === '';
}

const hashedOrder =
  'Order the rows by a hash of what they show, and number them after that; so also those of a time series: if agents ' +
  'may know the time, show it in a column.';
const evenSizes =
  'What a file shows makes it larger or smaller, in whichever order: write files without compression ' +
  '(pictures with compress_level=0), or all in one array.';

export function orderOf(answer: LeakReport): LeakFindings {
  const { revealed, hidden } = answer;
  return {
    faults: revealed
      .filter(isLeak)
      .slice(0, 3)
      .map((one) => `${lineOf(one)}. ${one.by.startsWith('size in ') ? evenSizes : hashedOrder}`),
    notes: hidden.length === 0 ? [nothingKnown(answer)] : revealed.slice(0, 5).map(lineOf),
    notRun: hidden.length === 0,
  };
}

function lineOf({ by, hidden, strength, deviations, rows, shown }: Revealed): string {
  return (
    `${by} tells ${hidden}: ${percentOf(strength)} of what there is to know beyond chance, ` +
    `${Math.round(deviations)} standard deviations from shuffled values (${rows} rows)` +
    (shown === '' ? '' : `; so do the public columns (${shown})`)
  );
}

function percentOf(share: number): string {
  return `${Number((100 * share).toPrecision(3))} %`;
}

function shortList(items: readonly string[]): string {
  const shown = items.slice(0, 3).join('; ');
  return items.length > 3 ? `${shown}; and ${items.length - 3} more` : shown;
}
