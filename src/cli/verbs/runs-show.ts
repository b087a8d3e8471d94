import { styleText } from 'node:util';
import { z } from 'zod';
import { UserError } from '../../lib/errors.ts';
import {
  type Grade,
  isImported,
  type Lesson,
  type RunSpec,
  type Spent,
  type TextRef,
  type TraceEvent,
  type Verification,
} from '../../schema/index.ts';
import {
  type BranchReader,
  branchesOf,
  currentGrades,
  type Experiment,
  historyOf,
  limitsHeldText,
  parseStoredText,
  type RecordedStep,
  type RunFolder,
  readTraceSync,
  resolveText,
  sessionsOf,
  spentOf,
  statesOf,
  statusOf,
  stepsOf,
} from '../../store/index.ts';
import { finalGrade, stepsText } from '../branch-result.ts';
import { gradeText } from '../grade-text.ts';
import { branchesOfRun, locateRun } from '../locate.ts';
import { dollars, duration, number, oneLine, plain, table } from '../table.ts';
import type { Verb } from '../verb.ts';
import { verdictWords } from '../verdict-words.ts';

interface Options {
  step?: number;
}

/** A step with its texts, and what the agent noted before it. */
interface ShownStep {
  step: number;
  action: string;
  args: unknown;
  status: string;
  observation: string;
  duration_ms: number;
  exit_code: number | null;
  changed: string[];
  snapshot: string;
  stale: boolean;
  /** A language model wrote the observation, or parts of it. */
  by_model: boolean;
  /** What of the workspace is not in the snapshot: at most 20 of `not_kept_count`. */
  not_kept: string[];
  not_kept_count: number;
  notes: Record<string, string>[];
}

export const runsShow: Verb = {
  onlyReads: true,
  arguments: [{ name: '<run>', description: 'EXPERIMENT/RUN' }],
  flags: [
    { flags: '--step <n>', description: 'one step whole: notes, arguments, observation', parse: wholeNumber },
  ],
  examples: [
    ['mlab runs show start-1/digits-automl-0', 'a line for each step'],
    ['mlab runs show start-1/digits-automl-0 --step 4', 'all of step 4'],
  ],
  async run(context, [given = ''], options: Options) {
    const { experiment, folder } = locateRun(context, given);
    const record = folder.readRecord();
    if (record === null) return { text: `${folder.id} has not begun.`, json: { run: folder.id, steps: [] } };
    // The record of a run that is running, or was killed, knows less.
    const events = folder.hasTrace() ? readTraceSync(folder.tracePath).events : [];
    const steps = shownSteps(folder, historyOf(events));
    const grades = currentGrades(folder.readGrades().grades, statesOf(events));
    const { verifications } = folder.readVerifications();
    if (options.step !== undefined) {
      const step = steps.find((one) => one.step === options.step);
      if (step !== undefined) return { text: stepText(step), json: step };
      throw new UserError(
        'unknown_step',
        `There is no step ${options.step}.`,
        `The run has ${steps.length} steps.`,
      );
    }
    const { spec, end } = record;
    const tree = branchesOf(events);
    const { branches } = tree;
    const begun = branchesOfRun(experiment, folder.id);
    const head = [
      `${spec.experiment}/${spec.id}: ${spec.agent} on ${spec.task}${isImported(spec) ? '' : `, seed ${spec.seed}`}`,
      `${end?.reason ?? statusOf(folder, record)}${end === null ? '' : `: ${oneLine(end.message, 200)}`}`,
      `${steps.length} steps, ${duration(sessionsOf(events).secondsUsed)}${gradeText(grades.findLast(({ final }) => final))}`,
      ...[limitsHeldText(record, events[0] ?? null)].filter((line) => line !== null),
      ...branchLines(tree),
      ...personsBranchLines(experiment, folder.id),
      ...modelLines(record.spec, spentOf(events)),
      ...verificationLines(verifications),
    ];
    return {
      text: `${head.join('\n')}\n\n${stepsTable(steps, grades)}`,
      json: { record, steps, grades, verifications, branches, selected: tree.selected, begun },
    };
  },
};

/** The branches of a run that has more than one; the steps shown are those of the selected one. */
function branchLines({ branches, selected }: BranchReader): string[] {
  if (branches.length < 2) return [];
  return branches.map(({ id, origin, steps }) => {
    const from = origin === null ? '' : `, forked from ${origin.branch} step ${origin.step}`;
    return `branch ${id}${from}: ${steps} steps${id === selected ? ' (selected, shown below)' : ''}`;
  });
}

/** Branches of a run that people began. They are runs of their own, shown by their names. */
function personsBranchLines(experiment: Experiment, run: string): string[] {
  return branchesOfRun(experiment, run).map(({ actor, run: { id, parent } }) => {
    const folder = experiment.runFolder(id);
    const record = folder.readRecord();
    const state = record?.end?.reason ?? statusOf(folder, record);
    const from = `${parent.run === run ? '' : `${parent.run} `}step ${parent.step}`;
    const grade = gradeText(finalGrade(experiment, id));
    return `branch ${id}, begun by ${plain(actor)} from ${from}: ${stepsText(record)}; ${state}${grade}`;
  });
}

/** The models of a run and what they used; its marks and lessons; where it went on from, if it did. */
function modelLines(spec: RunSpec, spent: Spent): string[] {
  const { roles, parent, marks, experience = [] } = spec;
  const names = [...new Set([roles?.agent.model, roles?.editor.model, roles?.fast.model])].join(', ');
  const used =
    spent.calls === 0 && spent.tokens === 0
      ? 'not asked'
      : `${spent.calls} calls, ${spent.estimated ? '≈ ' : ''}${number(spent.tokens)} tokens, ${dollars(spent.unpriced > 0 ? null : spent.money)}`;
  return [
    ...(roles === undefined ? [] : [`${names}: ${used}`]),
    ...(marks.length === 0 ? [] : [`marks: ${marks.map(plain).join(', ')}`]),
    ...experience.map((lesson, index) => `  [E${index + 1}] ${lessonLine(lesson)}`),
    ...(parent === undefined
      ? []
      : [
          `${parent.experiment === spec.experiment ? 'a branch of' : 'forked from'} ${parent.experiment}/${parent.run}, step ${parent.step}`,
        ]),
  ];
}

function lessonLine({ fingerprint, change, tries, better, source }: Lesson): string {
  const text = `${fingerprint.task}: ${change.text} Better in ${better} of ${tries} (${source.experiment}/${source.run}, step ${source.step})`;
  return oneLine(text, 160);
}

/** What the newest verification found. */
function verificationLines(verifications: readonly Verification[]): string[] {
  const newest = verifications.at(-1);
  if (newest === undefined) return [];
  return [`verified: ${verdictWords[newest.verdict]}. ${oneLine(newest.reason, 300)}`];
}

function shownSteps(folder: RunFolder, events: readonly TraceEvent[]): ShownStep[] {
  const textOf = (ref: TextRef) => resolveText(folder.objects, ref);
  const notes = new Map<number, Record<string, string>[]>();
  let next = 1;
  for (const event of events) {
    if (event.kind === 'step_finished') next = event.step + 1;
    if (event.kind !== 'note') continue;
    const texts = Object.entries(event.entries).map(([name, ref]) => [name, textOf(ref)]);
    notes.set(next, [...(notes.get(next) ?? []), Object.fromEntries(texts)]);
  }
  return stepsOf(events).map((step) => shownStep(step, textOf, notes.get(step.step) ?? []));
}

function shownStep(
  { step, started, finished }: RecordedStep,
  textOf: (ref: TextRef) => string,
  notes: Record<string, string>[],
): ShownStep {
  const { status, duration_ms, exit_code, changed, snapshot, submission } = finished;
  return {
    step,
    action: started.action,
    args: parseStoredText(z.unknown(), textOf(started.args), `the arguments of step ${step}`),
    status,
    observation: textOf(finished.observation),
    ...{ duration_ms, exit_code, changed, snapshot, notes },
    stale: submission.stale,
    by_model: finished.by_model ?? false,
    not_kept: finished.skipped?.map(({ path, reason }) => `${path} (${reason.replaceAll('_', ' ')})`) ?? [],
    not_kept_count: finished.skipped_count ?? 0,
  };
}

function stepsTable(steps: readonly ShownStep[], grades: readonly Grade[]): string {
  const scores = new Map(grades.map((grade) => [grade.step, grade]));
  const rows = steps.map((step) => [
    String(step.step),
    oneLine(step.action, 24),
    step.status === 'ok' ? 'ok' : styleText('red', step.status),
    duration(step.duration_ms / 1000),
    number(scores.get(step.step)?.score ?? null),
    oneLine(noteLine(step) ?? step.observation, 90),
  ]);
  const right = 'right' as const;
  return table(
    [
      { title: 'step', align: right },
      { title: 'action' },
      { title: 'outcome' },
      { title: 'time', align: right },
      { title: 'hidden', align: right },
      { title: 'note, or what was observed' },
    ],
    rows,
  );
}

function noteLine(step: ShownStep): string | null {
  if (step.notes.length === 0) return null;
  return step.notes.map((entries) => Object.values(entries).join(' · ')).join(' · ');
}

function stepText(step: ShownStep): string {
  const notes = step.notes.flatMap((entries) =>
    Object.entries(entries).map(([name, text]) => `${plain(name)}: ${plain(text)}`),
  );
  const args = Object.entries(step.args as Record<string, unknown>).map(
    ([name, value]) => `${plain(name)}:\n${plain(typeof value === 'string' ? value : JSON.stringify(value))}`,
  );
  const part = (title: string, body: string) => (body === '' ? [] : [styleText('bold', title), body, '']);
  return [
    styleText(
      'bold',
      `Step ${step.step}: ${plain(step.action)} (${step.status}, ${duration(step.duration_ms / 1000)})`,
    ),
    '',
    ...part('Notes', notes.join('\n')),
    ...part('Arguments', args.join('\n')),
    ...part(
      step.by_model ? 'Observation (written by a language model)' : 'Observation',
      plain(step.observation),
    ),
    ...part('Changed', step.changed.map(plain).join('\n')),
    ...part(`Not kept in the record (${step.not_kept_count})`, step.not_kept.map(plain).join('\n')),
  ].join('\n');
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0) return value;
  throw new UserError(
    'bad_flag',
    `"${text}" is not the number of a step.`,
    'Give a whole number, such as 4.',
  );
}
