import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify as stringifyYaml } from 'yaml';
import type { Gate } from '../environment/index.ts';
import { hasCode, UserError } from '../lib/errors.ts';
import type { ModelRegistry } from '../models/index.ts';
import {
  cancellationText,
  chooseExecutor,
  executorFor,
  noteCancelled,
  providersThrough,
  type RemoteExecutor,
} from '../runs/index.ts';
import type { ExperimentFile, Plan } from '../schema/index.ts';
import { type Experiment, lastCancelled, noteCancelling, openExperiment } from '../store/index.ts';
import type { Task } from '../tasks/index.ts';
import type { Context } from './context.ts';
import { reportOutage } from './log-events.ts';
import { refuseRecordedPlace } from './trust.ts';

/** How long to wait for a second Ctrl-C. */
const secondWithinMs = 5_000;

const cancellingPollMs = 1_000;

const words = {
  first:
    'running jobs continue, and queued ones wait; the same command follows them again. Ctrl-C again within 5 s cancels them.',
  second: 'cancelling the jobs.',
};

/**
 * Whether this process executes the runs itself.
 * @throws UserError if they are to run elsewhere but need somebody at this terminal
 */
export function isHere(
  context: Context,
  plan: Plan,
  wanted: ExperimentFile,
  gate: Gate | undefined,
): boolean {
  const kind = executorOf(context, plan, wanted.executor.on);
  if (kind === null) return true;
  if (gate === undefined && !wanted.interactive) return false;
  throw new UserError(
    'no_person',
    `A run on ${kind.name} can't ask questions at this terminal.`,
    'Leave out --approve and --interactive. Actions of agents that are not programs can wait for mlab decide: --approve-later.',
  );
}

/** The name of where the runs are executed; null: in this process. */
export function executorNameOf(context: Context, plan: Plan, { executor }: ExperimentFile): string | null {
  return executorOf(context, plan, executor.on)?.name ?? null;
}

/**
 * Refuses a limit of the experiment that would not hold where the runs are executed.
 * @throws UserError `limit_not_shared`
 */
export function refuseUncountedLimit(
  context: Context,
  plan: Plan,
  { executor: settings }: Pick<ExperimentFile, 'executor'>,
): void {
  const { tokens, money } = plan.spend ?? {};
  const isLimited = tokens !== undefined || money !== undefined;
  if (!isLimited || plan.runs.every(({ roles }) => roles === undefined)) return;
  const kind = executorOf(context, plan, settings.on);
  const hint = kind?.limitHint?.(settings) ?? null;
  if (kind === null || hint === null) return;
  const flag = money === undefined ? '--experiment-tokens' : '--experiment-money';
  throw new UserError(
    'limit_not_shared',
    `${flag} would not hold on ${kind.name}: each machine there counts only its own calls.`,
    hint,
  );
}

/**
 * Checks that jobs can be submitted from here.
 * @throws UserError
 */
export async function tryPlace(
  context: Context,
  plan: Plan,
  { executor: settings }: Pick<ExperimentFile, 'executor'>,
): Promise<void> {
  const before = settings.on === undefined ? executorBefore(context, plan) : null;
  const kind = executorOf(context, plan, settings.on);
  const { variables, signal } = context;
  await kind?.ready(settings.on ?? before ?? kind.name, { settings, variables, signal });
}

/** The documents that the executor would submit; null if it has none to show. */
export async function documentsElsewhere(
  context: Context,
  plan: Plan,
  tasks: readonly Task[],
  { executor: settings, parallel }: ExperimentFile,
): Promise<unknown[] | null> {
  const kind = executorOf(context, plan, settings.on);
  const folder = join(context.folders.experiments, plan.name);
  const place = {
    ...{ settings, parallel, plan, folder, variables: context.variables, command: commandElsewhere(context) },
    tasks: new Map(tasks.map((task) => [task.file.id, task])),
  };
  return (await kind?.documents?.(place)) ?? null;
}

/** Scripts, or YAML for other tools, with the plan as a comment. */
export function withDocuments(planText: string, documents: readonly unknown[]): string {
  const hint = 'For inspection only: mlab run writes the files that the jobs read when it submits them.';
  const comment = `${planText}\n${hint}`.replaceAll(/^/gm, '# ');
  if (documents.every((document) => typeof document === 'string'))
    return [comment, ...documents].join('\n\n');
  return [
    comment,
    ...documents.map((document) => stringifyYaml(document, { aliasDuplicateObjects: false })),
  ].join('\n---\n');
}

/** With a gateway at an address, no provider key is needed here or elsewhere: its token replaces them all. */
export function withGateway(wanted: ExperimentFile): ExperimentFile {
  const address = wanted.executor.slurm?.gateway_on ?? 'node';
  if (address === 'node' || address === 'submit') return wanted;
  const roles = Object.values(wanted.roles).flatMap((role) => role?.model ?? []);
  const names = [...wanted.models, ...roles].map((model) => model.slice(0, model.indexOf('/')));
  return { ...wanted, providers: providersThrough(wanted.providers, names, address) };
}

function executorOf(context: Context, plan: Plan, wanted: string | undefined) {
  const before = wanted === undefined ? executorBefore(context, plan) : null;
  refuseRecordedPlace(before, context.variables);
  return chooseExecutor(wanted, before);
}

function executorBefore({ folders }: Context, { name }: Plan): string | null {
  try {
    return openExperiment(join(folders.experiments, name)).executor;
  } catch (error) {
    if (hasCode(error, 'no_experiment')) return null;
    throw error;
  }
}

/** The command that starts this mlab on other machines that see its folder. */
export function commandElsewhere({ folders, placeWords }: Context): string[] {
  return [process.execPath, join(folders.package, 'bin/mlab.mjs'), ...placeWords];
}

/** What an executor did with a plan. */
export interface ExecutedThere<Result> {
  result: Result;
  /** If the jobs were cancelled: what became of them. */
  cancelled: string | null;
}

/**
 * Executes a plan on the executor asked for, or on the one that already has its jobs. The first Ctrl-C leaves jobs
 * elsewhere running; the second cancels them. It stops when another command cancels them.
 * @param execute is given the executor (undefined: this process), and the signal to stop
 */
export async function executeThere<Result>(
  context: Context,
  { executor: settings, parallel, spend }: ExperimentFile,
  experiment: Experiment,
  registry: ModelRegistry | undefined,
  execute: (executor: RemoteExecutor | undefined, signal: AbortSignal) => Promise<Result>,
): Promise<ExecutedThere<Result>> {
  const { signal: stopped, log, variables } = context;
  const models = registry && { registry, spend: { ...experiment.plan.spend, ...spend } };
  using cancelling = watchCancelling(experiment);
  const signal = AbortSignal.any([stopped, cancelling.signal]);
  const place = {
    ...{ settings, models, parallel, command: commandElsewhere(context), variables, log, signal },
    onOutage: reportOutage(context),
  };
  await using executor = await executorFor(settings.on, experiment, place);
  if (executor === null) return { result: await execute(undefined, stopped), cancelled: null };
  const second = context.detachable(words);
  const result = await execute(executor, signal);
  if (cancelling.signal.aborted) return { result, cancelled: 'The jobs were cancelled by another command.' };
  if (!stopped.aborted) return { result, cancelled: null };
  await sleep(secondWithinMs, undefined, { signal: second }).catch(() => {});
  if (!second.aborted) return { result, cancelled: null };
  await noteCancelling(experiment.folder);
  const cancellation = await executor.cancel();
  if (cancellation.problem === null) await noteCancelled(experiment);
  return { result, cancelled: cancellationText(cancellation) };
}

/** Aborts its signal when another command begins to cancel the experiment's jobs. */
function watchCancelling({ folder }: Experiment): Disposable & { signal: AbortSignal } {
  const before = lastCancelled(folder);
  const controller = new AbortController();
  const timer = setInterval(() => {
    try {
      if (lastCancelled(folder) !== before) controller.abort(new Error('the jobs are cancelled'));
    } catch {
      // A network file system may fail for a moment: it is read again.
    }
  }, cancellingPollMs);
  return { signal: controller.signal, [Symbol.dispose]: () => clearInterval(timer) };
}
