import { availableParallelism } from 'node:os';
import { UserError } from '../../lib/errors.ts';
import { experimentModels, toolModelFor, verifyRun } from '../../runs/index.ts';
import type { RunSpec, Verdict, Verification } from '../../schema/index.ts';
import type { Experiment, RunFolder } from '../../store/index.ts';
import type { Task } from '../../tasks/index.ts';
import { type Context, exitCodes } from '../context.ts';
import { wholeNumber } from '../flag-numbers.ts';
import { leaseGpusOf } from '../gpus-of-run.ts';
import { locateRuns, runsArgument } from '../locate.ts';
import { registryOf } from '../model-registry.ts';
import { failuresText, forEachRun, resourcesOfRuns } from '../several-runs.ts';
import { counted, duration, number, oneLine, table } from '../table.ts';
import { prepareFlags, type ResourceFlags } from '../task-resources.ts';
import { refuseAddresses, refuseUnconfined, type TrustFlags, trustFlag } from '../trust.ts';
import type { Verb } from '../verb.ts';
import { verdictWords } from '../verdict-words.ts';

interface Options extends ResourceFlags, TrustFlags {
  repeats: number;
}

interface Verified {
  run: string;
  verification: Verification;
}

export const verify: Verb = {
  arguments: [runsArgument],
  flags: [
    {
      flags: '--repeats <n>',
      description:
        'how often to rerun the code; with 3 or more the spread of the new scores counts as noise (default: 1)',
      parse: wholeNumber(1, 100),
    },
    trustFlag,
    ...prepareFlags,
  ],
  details:
    'Takes the final workspace without the files that scripts created, reruns the code that wrote the submission in a fresh\n' +
    'sandbox with the limits of the run, and compares the grade of the new submission with the old one. docs/evaluation.md,\n' +
    'Integrity, says how the code is found and which difference counts as noise. The result is stored with the run.',
  negative: 'a submission was not reproduced, its code could not be run, or a run could not be verified',
  examples: [
    ['mlab verify start-1/digits-automl-0', 'one run'],
    ['mlab verify start-1 --repeats 3', 'every finished run, three times each'],
  ],
  async run(context, given, { repeats = 1, ...options }: Options) {
    const verified: Verified[] = [];
    const resourcesOf = resourcesOfRuns(context, options);
    const runs = runsOf(context, given);
    const failures = await forEachRun(context, runs, async ({ experiment, folder, spec }) => {
      refuseUnconfined(spec, options);
      const resources = await resourcesOf(spec);
      await using gpus = await leaseGpusOf(context, spec);
      const verification = await verifyRun({
        gpus: gpus?.gpus,
        ...{ folder, resources, repeats, helpersFolder: context.folders.helpers, signal: context.signal },
        threads: availableParallelism(),
        versions: { mlab: context.version, node: process.version },
        dockerCommand: context.variables.MLAB_DOCKER,
        toolModel: toolModelOf(context, experiment, spec, resources.task, options),
        onProgress: (line) => context.log(`${folder.id}: ${oneLine(line, 120)}`),
      });
      verified.push({ run: folder.id, verification });
      context.log(`${folder.id}: ${verdictWords[verification.verdict]}`);
    });
    const isBad = failures.length > 0 || verified.some(({ verification: { verdict } }) => isFailure(verdict));
    const parts = [
      runs.length === 0 ? 'No run has finished.' : '',
      verified.length === 0 ? '' : textOf(verified),
      failuresText('Not verified', failures),
    ];
    return {
      text: parts.filter((part) => part !== '').join('\n\n'),
      json: { runs: verified, failures },
      exitCode: isBad ? exitCodes.negative : exitCodes.ok,
    };
  },
};

function isFailure(verdict: Verdict): boolean {
  return verdict === 'not_reproduced' || verdict === 'could_not_run';
}

/** The named runs, and the finished runs of named experiments. */
function runsOf(context: Context, given: readonly string[]) {
  const found: { experiment: Experiment; folder: RunFolder; spec: RunSpec }[] = [];
  for (const { experiment, folder, isNamed } of locateRuns(context, given)) {
    const record = folder.readRecord();
    if (record === null && isNamed) throw notBegun(folder.id);
    if (record === null || (!isNamed && record.status !== 'finished')) continue;
    found.push({ experiment, folder, spec: record.spec });
  }
  return found;
}

function notBegun(run: string): UserError {
  return new UserError(
    'not_finished',
    `The run ${run} has not started.`,
    'Run its experiment first, with mlab run.',
  );
}

/** Model access for tools in submitted code: the models of the plan, within what is left of the experiment's quota. */
function toolModelOf(context: Context, experiment: Experiment, spec: RunSpec, task: Task, flags: TrustFlags) {
  if (!task.file.services.some(({ kind }) => kind === 'model')) return undefined;
  refuseAddresses(experiment.plan.providers, flags);
  const registry = registryOf(context, experiment.plan);
  return toolModelFor(spec, task, experimentModels(experiment.plan, { registry, experiment }));
}

function textOf(verified: readonly Verified[]): string {
  const right = 'right' as const;
  const columns = [
    { title: 'run' },
    { title: 'verdict' },
    { title: 'score', align: right },
    { title: 'again', align: right },
    { title: 'noise', align: right },
    { title: 'time', align: right },
  ];
  const rows = verified.map(({ run, verification: { verdict, score, scores, noise, seconds } }) => [
    run,
    verdictWords[verdict],
    number(score),
    scores.map(number).join(', ') || '–',
    number(noise),
    duration(seconds),
  ]);
  const reasons = verified.flatMap(({ run, verification }) => [
    '',
    `${run}: ${oneLine(verification.reason, 500)}`,
    ...verification.executed.map(({ step, command }) => {
      const where = step === null ? 'the entry script' : `step ${step}`;
      return `    ${oneLine(command, 100)}   (${where})`;
    }),
  ]);
  const count = (verdict: Verdict) =>
    verified.filter(({ verification }) => verification.verdict === verdict).length;
  const bad = `${count('not_reproduced')} not reproduced, ${count('could_not_run')} could not be run`;
  const end = `${counted(verified.length, 'run')} verified: ${bad}.`;
  return [table(columns, rows), ...reasons, '', end].join('\n');
}
