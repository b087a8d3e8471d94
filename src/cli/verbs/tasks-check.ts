import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import { removeTree } from '../../lib/read-only-tree.ts';
import {
  checkFolder,
  checkLeaks,
  checkTask,
  type HeldGpus,
  type LeakCheckName,
  type LeakCheckReport,
  leakChecks,
  type TaskResources,
  type ValidationAgentReport,
  validationAgents,
  validationAgentsByName,
  whatStopped,
} from '../../runs/index.ts';
import { SandboxDriver } from '../../schema/index.ts';
import { openExperiment } from '../../store/index.ts';
import { loadTask, type Task } from '../../tasks/index.ts';
import { type Context, exitCodes, type VerbResult } from '../context.ts';
import { wholeNumber } from '../flag-numbers.ts';
import { leaseGpuFor } from '../gpus-of-run.ts';
import { counted, duration, number, oneLine, percent, table } from '../table.ts';
import { prepareFlags, provision, type ResourceFlags } from '../task-resources.ts';
import type { Verb } from '../verb.ts';

interface Options extends ResourceFlags {
  only?: string[];
  parallel?: number;
  sandbox: SandboxDriver;
  keep?: boolean;
  gpu?: boolean;
}

interface TaskCheck {
  task: string;
  ok: boolean;
  /** Why the folder is not a valid task; then no validation agents run. */
  problem: string | null;
  agents: ValidationAgentReport[];
  /** Ways to hidden values that nothing forbids, and what does not stay the same though it must. */
  leaks: LeakCheckReport[];
  /** Where the runs are kept; null if they were removed. */
  kept: string | null;
}

const list = (named: readonly { name: string; summary: string }[]) =>
  named.map(({ name, summary }) => `  ${name.padEnd(15)} ${summary}`).join('\n');

export const tasksCheck: Verb = {
  arguments: [{ name: '<tasks...>', description: 'task ids, or task folders' }],
  flags: [
    {
      flags: '--only <names>',
      description: 'run only these agents and checks (default: all)',
      many: 'commas',
      formerly: '--controls',
    },
    {
      flags: '--parallel <n>',
      description: 'maximum validation agents at a time (default: 2)',
      parse: wholeNumber(1),
    },
    { flags: '--sandbox <driver>', description: 'sandbox for the agents', default: 'bubblewrap' },
    { flags: '--keep', description: 'keep the runs (they are always kept when an agent fails its check)' },
    { flags: '--gpu', description: 'give the agents and the grader a GPU, one agent at a time' },
    ...prepareFlags,
  ],
  details:
    "Validates the task's folder, then runs the validation agents as real runs and grades them. The oracle must succeed;\n" +
    'nothing else may. An adversarial agent says what it tried and what stopped it (--json has all of it).\n\n' +
    `${list(validationAgents)}\n\nThen looks for leaks, ways to the hidden values that nothing forbids, and checks what must stay the same.\n\n` +
    list(leakChecks),
  negative:
    'the folder is not a valid task, a validation agent did something that it must not, or a check failed',
  examples: [
    ['mlab tasks check digits', 'all agents and checks on one task'],
    ['mlab tasks check ./tasks/mine --only oracle,noop,baseline', 'the quick agents, for a new task'],
    ['mlab tasks check ./tasks/mine --only hidden-values,row-order', 'only the leak checks'],
    ['mlab tasks check digits --json | jq ".tasks[0].agents[].attempts"', 'everything that the agents tried'],
  ],
  async run(context, ids, given: object) {
    const options = given as Options;
    const settings = settingsOf(options);
    const parent = mkdtempSync(join(tmpdir(), 'mlab-check-'));
    const checks: TaskCheck[] = [];
    try {
      for (const id of ids) checks.push(await checkOne(context, id, parent, settings, options));
    } finally {
      if (checks.every(({ kept }) => kept === null)) removeTree(parent);
    }
    return resultOf(checks);
  },
};

interface Settings {
  chosen: ReturnType<typeof validationAgentsByName>;
  checks: readonly LeakCheckName[];
  parallel: number;
  sandbox: SandboxDriver;
  keep: boolean;
}

/** Checks, and the agents of which each needs one. */
const scoresOfAgents = [
  ['reference-score', 'oracle'],
  ['row-shuffle', 'oracle'],
  ['baseline-score', 'baseline', 'constant'],
] as const;

function settingsOf(options: Options): Settings {
  const { parallel = 2 } = options;
  const sandbox = SandboxDriver.safeParse(options.sandbox);
  if (!sandbox.success || sandbox.data === 'none') {
    throw new UserError(
      'bad_flag',
      `--sandbox ${options.sandbox}: adversarial agents run only in a sandbox.`,
      'Use bubblewrap or docker.',
    );
  }
  const named = options.only ?? [];
  const checkNames = leakChecks.map(({ name }) => name);
  const checks = checkNames.filter((name) => named.length === 0 || named.includes(name));
  const agents = named.filter((name) => !checkNames.some((check) => check === name));
  for (const [check, ...needed] of scoresOfAgents) {
    if (!named.includes(check) || needed.some((agent) => agents.includes(agent))) continue;
    throw new UserError(
      'bad_flag',
      `--only ${check} compares the score of the agent ${needed.join(' or ')}, which is missing from --only.`,
      `Add it: --only ${[needed[0], ...named].join(',')}`,
    );
  }
  // If only checks are named, run no agents.
  const chosen = named.length > 0 && agents.length === 0 ? [] : agentsNamed(agents, checkNames);
  return { chosen, checks, parallel, sandbox: sandbox.data, keep: options.keep === true };
}

function agentsNamed(names: readonly string[], checks: readonly string[]): Settings['chosen'] {
  try {
    return validationAgentsByName(names);
  } catch (error) {
    if (!UserError.isInstance(error)) throw error;
    throw new UserError(
      error.code,
      error.message,
      `${error.hint} The leak checks are: ${checks.join(', ')}.`,
    );
  }
}

async function checkOne(
  context: Context,
  id: string,
  parent: string,
  settings: Settings,
  options: Options,
): Promise<TaskCheck> {
  const { chosen, parallel, sandbox, keep } = settings;
  const task = validTask(context, id);
  if (typeof task === 'string') {
    return { task: id, ok: false, problem: task, agents: [], leaks: [], kept: null };
  }
  const { id: name } = task.file;
  const log = (line: string) => context.log(`${name}: ${line}`);
  await using gpus = await leaseGpuFor(context, task, options.gpu);
  const resources = await provision(context, task, options);
  log('valid; running the validation agents');
  const folder = checkFolder(parent, name);
  const reports = await checkTask({
    ...{ resources, validationAgents: chosen, folder, sandbox, parallel, gpus },
    helpersFolder: context.folders.helpers,
    versions: { mlab: context.version, node: process.version },
    signal: gpus === undefined ? context.signal : AbortSignal.any([context.signal, gpus.lost]),
    onProgress: log,
    onReport: (report, { ended, of }) =>
      log(`${report.agent}: ${verdictOf(report)} (${duration(report.seconds)}; ${ended} of ${of} agents)`),
  });
  const checked = { reports, folder, gpus: gpus?.gpus };
  const leaks = await leaksOf(context, resources, settings, checked, options);
  const behaved = reports.every((report) => report.ok);
  const kept = keep || !behaved ? folder : null;
  if (kept === null) removeTree(folder);
  const ok = behaved && leaks.every(({ outcome }) => outcome !== 'leaks');
  return { task: name, ok, problem: null, agents: reports, leaks, kept };
}

/** What the validation agents left. */
interface Checked {
  reports: readonly ValidationAgentReport[];
  folder: string;
  gpus: HeldGpus['gpus'] | undefined;
}

function leaksOf(
  context: Context,
  resources: TaskResources,
  { checks, sandbox }: Settings,
  { reports, folder, gpus }: Checked,
  { mirror, allowUnverified }: ResourceFlags,
): Promise<LeakCheckReport[]> {
  const { id, baseline } = resources.task.file;
  const { cache, helpers } = context.folders;
  const oracle = reports.find(({ agent }) => agent === 'oracle');
  return checkLeaks({
    ...{ resources, sandbox, checks, gpus, signal: context.signal, helpersFolder: helpers },
    preparation: {
      ...{ cache, helpers, python: resources.python, mirror: mirror ?? null },
      allowUnverified: allowUnverified === true,
    },
    baseline: reports.find(
      ({ agent }) => agent === (baseline.method === 'constant' ? 'constant' : 'baseline'),
    ),
    oracle: oracle && { score: oracle.score, folder: openExperiment(folder).runFolder(oracle.run) },
    onReport: ({ check, outcome, seconds }) =>
      context.log(`${id}: ${check}: ${outcomes[outcome]} (${duration(seconds)})`),
  });
}

const outcomes: Record<LeakCheckReport['outcome'], string> = {
  ok: 'as expected',
  leaks: 'FAILED',
  not_run: 'not checked',
};

/** The task, or all problems of its folder. */
function validTask(context: Context, id: string): Task | string {
  try {
    return loadTask(id, context.folders.tasks);
  } catch (error) {
    if (UserError.isInstance(error) && error.code === 'invalid_task') return error.message;
    throw error;
  }
}

function verdictOf({ ok, faults }: ValidationAgentReport): string {
  // The report at the end has all lines of each.
  return ok ? 'as expected' : `FAILED: ${faults.map((fault) => fault.split('\n', 1)[0]).join('; ')}`;
}

function resultOf(checks: readonly TaskCheck[]): VerbResult {
  const ok = checks.every((check) => check.ok);
  return {
    text: checks.map(textOf).join('\n\n'),
    json: { ok, tasks: checks },
    exitCode: ok ? exitCodes.ok : exitCodes.negative,
  };
}

const failed = '✗';
/** The width of the table where it is not for a terminal; `--json` has all that is cut. */
const fileColumns = 160;

function textOf({ task, problem, agents: reports, leaks, kept }: TaskCheck): string {
  if (problem !== null) return problem;
  const columns = [
    { title: task },
    { title: 'must' },
    { title: 'did' },
    { title: 'score', align: 'right' as const },
    { title: 'tried', align: 'right' as const },
    { title: 'what stopped it' },
  ];
  const rows = reports.map((report) => [
    `${report.ok ? '✓' : failed} ${report.agent}`,
    report.expects === 'success' ? 'succeed' : 'fail',
    report.succeeded ? `succeed, ${percent(report.improvement, true)}` : 'fail',
    number(report.score),
    report.attempts.length === 0 ? '' : String(report.attempts.length),
    stoppedText(report),
  ]);
  rows.push(...leaks.map(leakRow));
  const faults = faultLines(reports);
  const shown = table(columns, rows, process.stdout.isTTY ? process.stdout.columns : fileColumns);
  const cut = rows.filter((row) => row[0]?.startsWith(failed) && !shown.includes(row.at(-1) ?? ''));
  return [
    shown,
    ...(cut.length === 0 ? [] : ['\nCut above:', ...cut.map((row) => `  ${row[0]}: ${row.at(-1)}`)]),
    ...leaks.flatMap(({ check, outcome, notes }) =>
      outcome === 'not_run'
        ? [`\nNot checked, ${check}:\n${indented(notes.flatMap((note) => note.split('\n')))}`]
        : [],
    ),
    ...(faults.length === 0 ? [] : [`\nMisbehaving:\n${faults.join('\n')}`]),
    ...leaks.flatMap(({ check, faults: found }) =>
      found.length === 0 ? [] : [`\nFound by ${check}:\n${leakLines(found).join('\n')}`],
    ),
    ...(kept === null ? [] : [`\nThe runs are kept in ${kept} (mlab runs show ${kept}/runs/RUN)`]),
  ].join('\n');
}

/** A fault that several agents share, such as a grader that always fails, is shown once. */
function faultLines(reports: readonly ValidationAgentReport[]): string[] {
  const agents = new Map<string, string[]>();
  for (const { agent, faults } of reports)
    for (const fault of faults) agents.set(fault, [...(agents.get(fault) ?? []), agent]);
  const lines = [...agents].map(
    ([fault, names]) => `  ${names.join(', ')}: ${fault.replaceAll('\n', '\n    ')}`,
  );
  const isGrader = [...agents.keys()].some((fault) =>
    /^(?:it could not be graded|the grader failed)/.test(fault),
  );
  return isGrader ? [...lines, '  If the grader is wrong, fix hidden/grade.py of the task.'] : lines;
}

const maxLeakLines = 5;

function leakLines(faults: readonly string[]): string[] {
  const more = faults.length - maxLeakLines;
  const lines = faults.slice(0, maxLeakLines).map((fault) => `  ${fault}`);
  return more > 0 ? [...lines, `  ${more} more in --json`] : lines;
}

function leakRow({ check, outcome, faults, notes }: LeakCheckReport): string[] {
  const sign = { ok: '✓', leaks: failed, not_run: '–' }[outcome];
  const did = {
    ok: 'nothing',
    leaks: counted(faults.length, 'fault'),
    not_run: '',
  };
  const note = outcome === 'not_run' ? 'not checked, see below' : (notes[0] ?? '');
  return [`${sign} ${check}`, 'find nothing', did[outcome], '', '', oneLine(note, longest)];
}

/** In characters: a reason is shown whole, unless something prints without end. */
const longest = 1_000;

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${oneLine(line, longest)}`).join('\n');
}

function stoppedText(report: ValidationAgentReport): string {
  if (report.expects !== 'no_breach') return report.valid || report.succeeded ? '' : 'no valid submission';
  return oneLine(whatStopped(report).slice(0, 4).join('; '), longest);
}
