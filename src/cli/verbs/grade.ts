import { gradeRun } from '../../grading/index.ts';
import { UserError } from '../../lib/errors.ts';
import { type ExperimentModels, experimentModels, toolModelFor } from '../../runs/index.ts';
import type { Grade } from '../../schema/index.ts';
import { improvementOf } from '../../statistics/index.ts';
import type { Experiment } from '../../store/index.ts';
import { type Context, exitCodes } from '../context.ts';
import { leaseGpusOf } from '../gpus-of-run.ts';
import { locateRuns, runsArgument } from '../locate.ts';
import { logGrades } from '../log-events.ts';
import { registryOf } from '../model-registry.ts';
import { snapshotOfStep } from '../run-steps.ts';
import { failuresText, forEachRun, resourcesOfRuns } from '../several-runs.ts';
import { number, oneLine, percent, table } from '../table.ts';
import { prepareFlags, type ResourceFlags } from '../task-resources.ts';
import { refuseAddresses, refuseUnconfined, type TrustFlags, trustFlag } from '../trust.ts';
import type { Verb } from '../verb.ts';

interface Options extends ResourceFlags, TrustFlags {
  steps: string;
}

interface GradedRun {
  experiment: string;
  run: string;
  grade: Grade;
}

/** Model access for tools in graded code: the models of the plan, within what is left of the experiment's quota. */
function modelsOfExperiments(
  context: Context,
  flags: TrustFlags,
): (experiment: Experiment) => ExperimentModels | undefined {
  const known = new Map<string, ExperimentModels | undefined>();
  return (experiment) => {
    if (!known.has(experiment.folder)) {
      refuseAddresses(experiment.plan.providers, flags);
      const registry = registryOf(context, experiment.plan);
      known.set(experiment.folder, experimentModels(experiment.plan, { registry, experiment }));
    }
    return known.get(experiment.folder);
  };
}

export const grade: Verb = {
  arguments: [runsArgument],
  flags: [
    {
      flags: '--steps <which>',
      description: 'final, or all: every step of all branches',
      default: 'final',
    },
    trustFlag,
    ...prepareFlags,
  ],
  details:
    'Grades recorded workspaces; no agent runs. Each distinct submission is graded once. Only a run that has ended has a\n' +
    'final submission.',
  negative: 'a run could not be graded; the others are',
  examples: [
    ['mlab grade start-1', 'the final submission of every run'],
    ['mlab grade start-1/digits-automl-0 --steps all', 'the hidden score of every step'],
    ["mlab grade 'start-*/digits-*'", 'the runs on one task, in several experiments'],
  ],
  async run(context, given, options: Options) {
    const which = options.steps;
    if (which !== 'final' && which !== 'all') {
      throw new UserError('bad_flag', `--steps ${which}: not a valid choice.`, 'Use final or all.');
    }
    const runs = locateRuns(context, given, { withBranches: true, withSteps: true });
    const resourcesOf = resourcesOfRuns(context, options);
    const modelsOf = modelsOfExperiments(context, options);
    const graded: GradedRun[] = [];
    const unfinished: string[] = [];
    const failures = await forEachRun(context, runs, async ({ experiment, folder, step }) => {
      const record = folder.readRecord();
      if (record === null) return void unfinished.push(folder.id);
      const resources = await resourcesOf(record.spec);
      // For most tasks only the grader is executed, and no code of the agent.
      if (resources.task.file.grading.runs_submission) refuseUnconfined(record.spec, options);
      const asksModel = resources.task.file.services.some(({ kind }) => kind === 'model');
      await using gpus = await leaseGpusOf(context, record.spec);
      const grades = await gradeRun({
        gpus: gpus?.gpus,
        ...{
          folder,
          ...resources,
          helpersFolder: context.folders.helpers,
          which: step === null ? which : snapshotOfStep(folder, step).number,
          signal: context.signal,
        },
        dockerCommand: context.variables.MLAB_DOCKER,
        toolModel: toolModelFor(record.spec, resources.task, asksModel ? modelsOf(experiment) : undefined),
      });
      if (grades.length > 0)
        logGrades(context.logger, { experiment: experiment.name, run: folder.id }, grades);
      graded.push(...grades.map((one) => ({ experiment: experiment.name, run: folder.id, grade: one })));
      if (grades.length === 0) unfinished.push(folder.id);
      else context.log(`${folder.id}: ${grades.length} graded`);
    });
    const parts = [
      graded.length === 0 ? '' : tableOf(graded),
      failuresText('Not graded', failures),
      unfinished.length === 0 ? '' : unfinishedText(unfinished, which),
    ];
    return {
      text: parts.filter((part) => part !== '').join('\n\n'),
      json: { grades: graded, unfinished, failures },
      exitCode: failures.length > 0 ? exitCodes.negative : exitCodes.ok,
    };
  },
};

function unfinishedText(runs: readonly string[], which: string): string {
  const what = `${runs.join(', ')} ${runs.length === 1 ? 'has' : 'have'}`;
  return which === 'all'
    ? `Nothing to grade yet: ${what} not started.`
    : `Nothing to grade yet: ${what} not ended. Resume the experiment with mlab run, or grade the steps so far with --steps all.`;
}

/** Steps in a row whose submissions are graded alike are one row. */
function stretches(graded: readonly GradedRun[]): (GradedRun & { last: number })[] {
  const rows: (GradedRun & { last: number })[] = [];
  for (const one of graded) {
    const before = rows.at(-1);
    const isSame = before !== undefined && alike(before) === alike(one);
    if (isSame) before.last = one.grade.step;
    else rows.push({ ...one, last: one.grade.step });
  }
  return rows;
}

function alike({ experiment, run, grade }: GradedRun): string {
  const { branch, final, score, valid, problems, stale, caveats } = grade;
  return JSON.stringify([experiment, run, branch, final, score, valid, problems, stale, caveats]);
}

function tableOf(graded: readonly GradedRun[]): string {
  const right = 'right' as const;
  const columns = [
    { title: 'run' },
    { title: 'step', align: right },
    { title: 'score', align: right },
    { title: 'improvement', align: right },
    { title: 'notes' },
  ];
  const rows = stretches(graded).map(({ run, grade: one, last }) => [
    run,
    `${one.branch === undefined ? '' : `${one.branch} `}${one.step}${last === one.step ? '' : `–${last}`}${one.final ? ' (final)' : ''}`,
    number(one.score),
    percent(improvementOf(one), true),
    [
      ...one.problems.map(({ message }) => oneLine(message, 200)),
      ...(one.stale ? ['stale: older than the last script run'] : []),
      ...one.caveats,
    ].join('; '),
  ]);
  return table(columns, rows);
}
