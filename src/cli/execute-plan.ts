import type { Agent } from '../agents/index.ts';
import type { Gate } from '../environment/index.ts';
import { evaluationsOf } from '../evaluation/index.ts';
import type { ModelRegistry } from '../models/index.ts';
import {
  bundleOfRun,
  checkDialect,
  type ExperimentServices,
  furtherCosts,
  notBegun,
  type RemoteExecutor,
  type RunResult,
  runExperiment,
} from '../runs/index.ts';
import type { Plan, RunSpec } from '../schema/index.ts';
import { buildReport } from '../statistics/index.ts';
import { decidedIn, type Experiment } from '../store/index.ts';
import { personAtTerminal } from './ask-person.ts';
import { type Context, exitCodes, type VerbResult } from './context.ts';
import type { ExecutedThere } from './execute-there.ts';
import { logProgress } from './log-events.ts';
import type { Logger } from './logger.ts';
import { missedSearches } from './missed-searches.ts';
import { newerRuns } from './newer-runs.ts';
import { createProgressView } from './progress.ts';
import { documentOf, reportedRuns, usualTables } from './report/document-of.ts';
import { terminalText } from './report/formats.ts';
import { starterCrashes } from './starter-crashes.ts';
import { counted, plain } from './table.ts';
import { unsupervisedWarning } from './unsupervised.ts';

/** Installs agents that are programs before anything slow starts, and reports at once what can't work with them. */
export async function getPrograms(
  context: Context,
  { runs }: Plan,
  registry: ModelRegistry | undefined,
  agentOf: (run: RunSpec) => Promise<Agent>,
): Promise<void> {
  const { signal, log, folders } = context;
  for (const run of runs) {
    const { program } = await agentOf(run);
    if (registry === undefined || program === undefined) continue;
    checkDialect(run, registry);
    await bundleOfRun(run, {
      cache: folders.cache,
      onProgress: (line) => log(`${run.agent}: ${line}`),
      signal,
    });
  }
}

export type PlanParts = Pick<
  ExperimentServices,
  | 'experiment'
  | 'agentOf'
  | 'resources'
  | 'incomplete'
  | 'registry'
  | 'parentExperiment'
  | 'provisioning'
  | 'modelsFolder'
  | 'gpus'
> & { executor: RemoteExecutor | undefined };

export async function executePlan(
  context: Context,
  plan: Plan,
  parts: PlanParts,
  gate: Gate | undefined,
): Promise<RunResult[]> {
  const warning =
    gate === undefined && parts.incomplete !== 'keep'
      ? unsupervisedWarning(parts.experiment, plan.runs)
      : null;
  if (warning !== null) context.log(warning);
  const isInteractive = plan.runs.some(({ interactive }) => interactive);
  const askPerson = isInteractive ? personAtTerminal(context.isTerminal) : undefined;
  // Questions and log lines would be lost among lines that rewrite themselves.
  const renews =
    context.isTerminal &&
    context.verbosity === 'normal' &&
    !isInteractive &&
    gate === undefined &&
    !context.logger.isOnStandardError;
  const place = parts.executor && `executed on ${parts.experiment.executor ?? 'other machines'}`;
  using view = createProgressView(plan, renews, context, { place, showsResults: gate !== undefined });
  const log = logProgress(context.logger);
  return await runExperiment(
    { ...plan, parallel: gate === undefined ? plan.parallel : 1 },
    {
      ...parts,
      askPerson,
      gate,
      bundle: (run, signal) =>
        bundleOfRun(run, { cache: context.folders.cache, onProgress: (line) => context.log(line), signal }),
      helpersFolder: context.folders.helpers,
      dockerCommand: context.variables.MLAB_DOCKER,
      versions: { mlab: context.version, node: process.version },
      signal: context.signal,
      onProgress: (progress) => {
        view.show(progress);
        log(progress);
      },
    },
  );
}

/** A report of thousands of runs would hide what happened. */
function afterCancelling(
  { command, placeFlags, signal }: Context,
  { name, folder }: Experiment,
  results: readonly RunResult[],
  cancelled: string,
): VerbResult {
  const runs = results.length;
  const finished = results.filter(({ record }) => record?.status === 'finished').length;
  return {
    text: `${name}: ${cancelled}\n${finished} of ${counted(runs, 'run')} finished; ${command} runs ls ${name}${placeFlags} lists them.`,
    json: { experiment: name, folder, cancelled, finished, unfinished: runs - finished },
    exitCode: signal.aborted ? exitCodes.interrupted : exitCodes.negative,
  };
}

const maxProblems = 20;

/** Runs of which there is no other word in the log: whoever should execute them could not. */
function logUnbegun(logger: Logger, { name }: Experiment, problems: readonly RunResult[]): void {
  for (const { spec, record, problem, left } of problems) {
    if (left !== undefined || record !== null || problem === null || problem === notBegun) continue;
    logger.write('error', 'run_not_begun', { experiment: name, run: spec.id, message: problem });
  }
}

/** @param taskFlags for commands that need the tasks, as of `taskFlagsOf` */
export async function conclude(
  context: Context,
  experiment: Experiment,
  { result: results, cancelled }: ExecutedThere<readonly RunResult[]>,
  taskFlags = '',
): Promise<VerbResult> {
  if (cancelled !== null) return afterCancelling(context, experiment, results, cancelled);
  const { name } = experiment;
  // Also after Ctrl-C, show the results so far.
  const toTheEnd = { log: context.log, signal: AbortSignal.any([]) };
  const { evaluations, unreadable } = await evaluationsOf(toTheEnd, [experiment]);
  const report = buildReport(evaluations);
  const { runs, pairs } = report;
  const problems = results.filter(({ problem }) => problem !== null);
  logUnbegun(context.logger, experiment, problems);
  const more = problems.length - maxProblems;
  const lines = [
    ...problems
      .slice(0, maxProblems)
      .map(({ spec, problem }) => `  ${spec.id}: ${plain(problem ?? '').replaceAll('\n', '\n    ')}`),
    ...(more > 0
      ? [`  … and ${more} more: ${context.command} runs ls ${name}${context.placeFlags} lists them.`]
      : []),
  ];
  const trouble =
    lines.length === 0
      ? ''
      : `\n\nNot finished or not graded:\n${lines.join('\n')}\n${nextAfter(context, experiment, problems, taskFlags)}`;
  const begun = runs.find(({ status }) => status !== 'pending');
  const run = `${name}/${begun?.run ?? ''}`;
  const ofSteps: [string, string][] = [];
  if (runs.every(({ steps }) => steps === 0))
    ofSteps.push([`runs trace ${run}`, 'everything that was recorded']);
  else if (experiment.plan.grade !== 'all')
    ofSteps.push([`grade ${name} --steps all${taskFlags}`, 'the hidden score of every step']);
  const ofRuns: [string, string][] = [
    ['view', 'results and every step, in the browser'],
    [`runs show ${run}`, 'every step of a run'],
    [`runs diff ${run} 0 last`, 'what the agent changed'],
    ...ofSteps,
    [`report ${name}`, 'this table again'],
  ];
  const commands = begun === undefined ? [[`runs ls ${name}`, 'where each run is'] as const] : ofRuns;
  const shown = commands.map(
    ([command, meaning]) => [`${context.command} ${command}${context.placeFlags}`, meaning] as const,
  );
  const widest = Math.max(...shown.map(([command]) => command.length));
  const further = shown.map(([command, meaning]) => `  ${command.padEnd(widest)}  ${meaning}`);
  return {
    text: `${terminalText(documentOf(report, null, usualTables(report, false), { unreadable, newer: newerRuns([experiment], unreadable), further: furtherCosts(experiment, experiment.plan.runs, reportedRuns(report, name)) }))}${starterCrashes(experiment)}${missedSearches(experiment, context)}${trouble}\n\nNext (all files are in ${experiment.folder})\n${further.join('\n')}`,
    json: {
      ...{ experiment: name, folder: experiment.folder, pairs, runs, problems },
      ...(unreadable.length === 0 ? {} : { unreadable }),
    },
    exitCode: context.signal.aborted
      ? exitCodes.interrupted
      : problems.length + unreadable.length > 0
        ? exitCodes.negative
        : exitCodes.ok,
  };
}

/** A grader that was fixed is another version of the task, which the experiment's plan does not allow. */
function nextAfter(
  { command, placeFlags }: Context,
  experiment: Experiment,
  problems: readonly RunResult[],
  taskFlags: string,
): string {
  if (problems.every(({ left }) => left !== undefined))
    return 'These jobs are not stopped. Run the same command again to follow them.';
  const isSpent = problems.every(({ record }) => record?.end?.cause === 'experiment_limit');
  if (isSpent)
    return 'Run the same command with a larger --experiment-money or --experiment-tokens to continue.';
  const isGrader = problems.map(
    ({ problem }) => problem?.startsWith('not graded: No submission can be graded') === true,
  );
  const waits = problems.find(
    ({ spec, record }) =>
      record?.status === 'waiting' && decidedIn(experiment.runFolder(spec.id), record).length === 0,
  );
  const lines = [
    ...(isGrader.includes(true)
      ? [
          `Fix hidden/grade.py of the task, then: ${command} grade ${experiment.name}${taskFlags}${placeFlags}`,
        ]
      : []),
    ...(waits === undefined
      ? []
      : [`Decide, for example: ${command} decide ${experiment.name}/${waits.spec.id} allow${placeFlags}`]),
    ...(isGrader.includes(false) ? ['Run the same command again to continue.'] : []),
  ];
  return lines.join('\n');
}
