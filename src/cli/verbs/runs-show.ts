import { styleText } from 'node:util';
import { evaluateRun, modelRatings, readTranscript, stepSummaries } from '../../evaluation/index.ts';
import { UserError } from '../../lib/errors.ts';
import {
  type AgentClaims,
  type BranchId,
  type Grade,
  type IntegrityFlag,
  isImported,
  type Lesson,
  type ModelRatings,
  type ModelRoles,
  type ModelUse,
  programOutput,
  type RunRecord,
  type TraceEvent,
  type Verification,
} from '../../schema/index.ts';
import { efficiencyOf } from '../../statistics/index.ts';
import {
  branchesOf,
  currentGrades,
  type Experiment,
  historyOf,
  limitsHeldText,
  type RunFolder,
  readTraceSync,
  resolveText,
  sessionsOf,
  spentOf,
  statesOf,
  statesOfTree,
  statusOf,
} from '../../store/index.ts';
import { branchLines, branchNamed, lastGrades, personsBranchLines, usedSteps } from '../branch-lines.ts';
import { wholeNumber } from '../flag-numbers.ts';
import { gradeText } from '../grade-text.ts';
import { branchesOfRun, locateRun, stepArgument } from '../locate.ts';
import { decisionNote, type ShownStep, shownSteps, stepText } from '../shown-step.ts';
import { counted, dollars, duration, number, oneLine, plain, table } from '../table.ts';
import type { Verb } from '../verb.ts';
import { verdictWords } from '../verdict-words.ts';

interface Options {
  step?: number | 'last';
  branch?: string;
}

/** Of an error message or output; --json has the whole message. */
const maxErrorLines = 40;
/** Without another step or answer for so long before its end, an agent may have been in an endless loop. */
const silentMs = 5_000;

export const runsShow: Verb = {
  onlyReads: true,
  arguments: [stepArgument, { name: '[step]', description: 'the same as --step' }],
  flags: [
    {
      flags: '--step <n>',
      description: 'one step in full: notes, arguments, observation; a number, or last',
      parse: stepNumber,
    },
    {
      flags: '--branch <branch>',
      description: 'the steps of another branch than the selected one, such as main',
    },
  ],
  examples: [
    ['mlab runs show start-1/digits-automl-0', 'one line per step'],
    ['mlab runs show start-1/digits-automl-0@4', 'step 4 in full'],
    ['mlab runs show start-1/digits-automl-0 --branch main', 'also what was tried after the best version'],
  ],
  async run(context, [given = '', second], options: Options) {
    const { experiment, folder, step: named } = locateRun(context, given, { withSteps: true });
    const record = folder.readRecord();
    if (record === null)
      return { text: `${folder.id} has not started.`, json: { run: folder.id, steps: [] } };
    // The record of a run that is running, or was killed, is behind its trace.
    const events = folder.hasTrace() ? readTraceSync(folder.tracePath).events : [];
    const tree = branchesOf(events);
    const shown = branchNamed(options.branch, tree);
    const steps = shownSteps(folder, historyOf(events, shown), summariesOf(folder, shown));
    const grades = currentGrades(folder.readGrades().grades, statesOf(events));
    const { verifications } = folder.readVerifications();
    const asked = options.step ?? (second === undefined ? named : stepNumber(second, '--step'));
    const wanted = asked === 'last' ? steps.at(-1)?.step : asked;
    if (wanted !== undefined && wanted !== null) {
      const step = steps.find((one) => one.step === Number(wanted));
      if (step !== undefined) return { text: stepText(step), json: step };
      const hint = `The run has ${counted(steps.length, 'step')}.`;
      const place = `${experiment.name}/${folder.id}`;
      if (Number(wanted) === 0)
        throw new UserError(
          'unknown_step',
          'Step 0 is the workspace before the first step, so there is nothing to show.',
          `${hint} mlab runs restore ${place}@0 FOLDER writes that workspace.`,
        );
      throw new UserError('unknown_step', `There is no step ${wanted}.`, hint);
    }
    const { spec, end } = record;
    const last = lastGrades(tree, currentGrades(folder.readGrades().grades, statesOfTree(folder)));
    const branches = tree.branches.map((one) => ({ ...one, score: last.get(one.id)?.score ?? null }));
    const begun = branchesOfRun(experiment, folder.id);
    const ended = events.at(-1);
    const ratings = modelRatings(folder.readJudgements());
    const { integrity } = evaluateRun(folder, spec);
    const claimed = ended?.kind === 'run_ended' ? (ended.claimed ?? null) : null;
    const head = [
      `${experiment.name}/${spec.id}: ${agentOf(spec)} on ${spec.task}${isImported(spec) ? '' : `, seed ${spec.seed}`}`,
      `${end?.reason ?? statusOf(folder, record)}${end === null || end.reason === 'final_answer' ? '' : `: ${endText(end)}`}`,
      `${usedSteps(tree, steps.length, shown)}, ${duration(sessionsOf(events).secondsUsed)}${gradeText(grades.findLast(({ final }) => final))}`,
      ...[limitsHeldText(record, events[0] ?? null)].filter((line) => line !== null),
      ...branchLines(tree, shown, last),
      ...personsBranchLines(experiment, folder.id),
      ...modelLines(record, events),
      ...claimedLines(claimed),
      ...verificationLines(verifications),
      ...flagLines(integrity),
      ...ratings.flatMap(ratingLines),
    ];
    return {
      text: [
        head.join('\n'),
        steps.length === 0 && end !== null ? withoutSteps(experiment, folder) : stepsTable(steps, grades),
        ...lastOutput(folder, events),
      ].join('\n\n'),
      json: {
        record,
        claimed,
        steps,
        grades,
        verifications,
        integrity,
        ratings,
        branches,
        selected: tree.selected,
        begun,
      },
    };
  },
};

/** A command has the name that its label gives it. */
function agentOf({ agent, agent_options: { label } }: RunRecord['spec']): string {
  return typeof label === 'string' && label !== '' ? `${plain(label)} (${agent})` : agent;
}

/** Where to look instead of at steps. */
function withoutSteps({ name }: Experiment, { id }: RunFolder): string {
  const run = `${name}/${id}`;
  return `It took no steps. mlab runs diff ${run} shows what it changed, mlab runs trace ${run} --kind note --texts what it printed.`;
}

/** Errors and output in their own lines, of which the first and the last ones say most; other messages in one line. */
function endText({ reason, message }: NonNullable<RunRecord['end']>): string {
  const isError = ['agent_error', 'agent_stopped', 'infrastructure_error'].includes(reason);
  const lines = plain(message).trimEnd().split('\n');
  if (!isError || lines.length === 1) return oneLine(message, isError ? 2_000 : 200);
  const shown =
    lines.length <= maxErrorLines ? lines : [...lines.slice(0, 1), '…', ...lines.slice(-maxErrorLines)];
  return shown.map((line, index) => (index === 0 ? line : `  ${line}`)).join('\n');
}

/** What the agent's process printed last, if a time limit ended it long after the last answer or result that it got. */
function lastOutput(folder: RunFolder, events: readonly TraceEvent[]): string[] {
  const end = events.at(-1);
  if (end?.kind !== 'run_ended' || end.reason !== 'time_limit') return [];
  const step = events.findLast(({ kind }) => kind === 'step_finished');
  const answered = step?.kind === 'step_finished' ? step.time - step.duration_ms : 0;
  if (end.time - answered < silentMs) return [];
  const note = events.findLast((event) => event.kind === 'note' && programOutput in event.entries);
  const printed = note?.kind === 'note' ? note.entries[programOutput] : undefined;
  if (printed === undefined) return [];
  const lines = plain(resolveText(folder.objects, printed)).trimEnd().split('\n').slice(-maxErrorLines);
  return [`The time limit ended it. It printed last:\n${lines.join('\n')}`];
}

/** By step. */
function summariesOf(folder: RunFolder, branch: BranchId): Map<number, string> {
  if (!folder.hasTrace()) return new Map();
  const summaries = stepSummaries(folder.objects, readTranscript(folder, [], branch));
  return new Map(summaries.map(({ step, text }) => [step, text]));
}

/** The models of a run and their use; its caveats and lessons; its parent, if it has one. */
function modelLines({ spec, shared }: RunRecord, events: readonly TraceEvent[]): string[] {
  const { roles, parent, caveats, experience = [] } = spec;
  const before = shared?.spent.calls ?? 0;
  return [
    ...(roles === undefined ? [] : useLines(roles, events)),
    ...(caveats.length === 0 ? [] : [`caveats: ${caveats.map(plain).join(', ')}`]),
    ...experience.map((lesson, index) => `  [E${index + 1}] ${lessonLine(lesson)}`),
    ...(parent === undefined
      ? []
      : [
          `${parent.experiment === spec.experiment ? 'a branch of' : 'forked from'} ${parent.experiment}/${parent.run}, step ${parent.step}${before === 0 ? '' : ` (${counted(before, 'call')} of language models ${before === 1 ? 'is' : 'are'} from before)`}`,
        ]),
  ];
}

/** One line per model, since a fork's first steps may be by another; with a sum if there are several. */
function useLines(roles: ModelRoles, events: readonly TraceEvent[]): string[] {
  const { models = [] } = efficiencyOf(events, false);
  const named = new Set([roles.agent.model, roles.editor.model, roles.fast.model]);
  const unused = [...named].filter((name) => models.every(({ model }) => model !== name));
  const { unpriced, ...spent } = spentOf(events);
  const about = spent.estimated ? '≈ ' : '';
  const used = ({ calls, tokens, money }: Omit<ModelUse, 'model'>, byActions: number) =>
    `${counted(calls, 'call')}${byActions === 0 ? '' : ` (${byActions} by actions)`}, ${about}${number(tokens)} tokens, ${money === null ? '' : about}${dollars(money)}`;
  return [
    ...models.map(({ model, ...use }) => `${model}: ${used(use, callsByActions(events, model))}`),
    ...(models.length < 2
      ? []
      : [
          `all models: ${used({ ...spent, money: unpriced > 0 ? null : spent.money }, callsByActions(events))}`,
        ]),
    ...unused.map((name) => `${name}: no answers`),
  ];
}

/** Answered calls that actions made, not the agent itself: a replay does not repeat them. */
function callsByActions(events: readonly TraceEvent[], model?: string): number {
  return events.filter(
    (event) =>
      event.kind === 'model_call' &&
      event.step !== null &&
      event.answer !== null &&
      (model === undefined || event.model === model),
  ).length;
}

/** What an agent's program reports about itself, besides what the gateway counted. */
function claimedLines(claimed: AgentClaims | null): string[] {
  if (claimed === null) return [];
  const { session, cost, tokens, subagents } = claimed;
  const parts = [
    ...(cost === null ? [] : [`cost ${dollars(cost)}`]),
    ...(tokens === null ? [] : [`${number(tokens)} tokens`]),
    ...(subagents.length === 0 ? [] : [`subagents ${oneLine(subagents.join(', '), 200)}`]),
    ...(session === null ? [] : [`session ${oneLine(session, 100)}`]),
  ];
  return parts.length === 0 ? [] : [`claimed by the agent: ${parts.join(', ')}`];
}

function lessonLine({ fingerprint, change, tries, better, source }: Lesson): string {
  const text = `${fingerprint.task}: ${change.text} Better in ${better} of ${tries} (${source.experiment}/${source.run}, step ${source.step})`;
  return oneLine(text, 160);
}

/** The result of the newest verification. */
function verificationLines(verifications: readonly Verification[]): string[] {
  const newest = verifications.at(-1);
  if (newest === undefined) return [];
  return [`verified: ${verdictWords[newest.verdict]}. ${oneLine(newest.reason, 300)}`];
}

/** What to look at, and why: docs/evaluation.md, Integrity. */
function flagLines(flags: readonly IntegrityFlag[]): string[] {
  return flags.map(({ kind, step, weight, evidence }) => {
    const where = step === null ? '' : `, step ${step}`;
    const what = weight === 'attempt' ? 'was tried' : 'the result is in doubt';
    return `flag ${kind.replaceAll('_', ' ')} (${what}${where}): ${oneLine(evidence, 300)}`;
  });
}

/** How a model rated the run. */
function ratingLines({ model, questions, repeats, unread }: ModelRatings): string[] {
  const missing = unread === 0 ? '' : `; ${unread} of ${repeats} replies could not be read`;
  const rated = questions.flatMap(({ question, mean, ratings }) =>
    mean === null
      ? []
      : [`${question} ${mean.toFixed(1)} (${ratings.map(({ rating }) => rating).join(' ')})`],
  );
  return [
    `rated by ${model}, 1 to 5, which affects no other number: ${rated.join(', ') || 'no ratings'}${missing}`,
  ];
}

function stepsTable(steps: readonly ShownStep[], grades: readonly Grade[]): string {
  const scores = new Map(grades.map((grade) => [grade.step, grade]));
  const rows = steps.map((step) => [
    String(step.step),
    oneLine(step.action, 24),
    step.status === 'ok' ? 'ok' : styleText('red', step.status),
    duration(step.duration_ms / 1000),
    number(scores.get(step.step)?.score ?? null),
    oneLine(`${decisionNote(step)}${step.summary}`, 110),
  ]);
  const right = 'right' as const;
  return table(
    [
      { title: 'step', align: right },
      { title: 'action' },
      { title: 'outcome' },
      { title: 'time', align: right },
      { title: 'hidden', align: right },
      { title: 'what it did' },
    ],
    rows,
  );
}

function stepNumber(text: string, flag: string): number | 'last' {
  return text === 'last' ? text : wholeNumber(0)(text, flag);
}
