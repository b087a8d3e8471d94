/**
 * Reads experiments and runs: `import { readExperiments } from 'mlagentbench/store'`. It never changes them. See
 * docs/how-to/use-as-a-library.md.
 */
import { resolve } from 'node:path';
import { evaluationsOf } from '../evaluation/index.ts';
import { makeWholeFolder, refuseOccupied } from '../lib/whole-folder.ts';
import { type ActionStatus, BranchId, type Plan, type ReportRun, type TraceEvent } from '../schema/index.ts';
import { buildRuns } from '../statistics/index.ts';
import {
  type Experiment,
  historyOf,
  listExperiments,
  openExperiment,
  type RunFolder,
  readTraceSync,
  resolveText,
  restoreSnapshot,
  stepsOf,
  type TakenStep,
  type TracedAction,
} from '../store/index.ts';

export type { Plan, ReportRun, TraceEvent };

/** One finished step of a run. */
export interface StoredStep {
  /** From 1 on. */
  number: number;
  /** What was performed. */
  action: string;
  /** By name. */
  args: unknown;
  /** What the agent wanted, if somebody replaced it; else null. */
  proposed: { action: string; args: unknown } | null;
  observation: string;
  status: ActionStatus;
  /** Milliseconds since 1970. */
  started: number;
  finished: number;
}

/** A folder that `mlab run` wrote. */
export class StoredExperiment {
  readonly name: string;
  readonly folder: string;
  /** The planned runs with all settings; frozen when the experiment began. */
  readonly plan: Plan;
  readonly #experiment: Experiment;

  /** @throws UserError if there is none, or none that this version can read */
  constructor(folder: string) {
    this.#experiment = openExperiment(resolve(folder));
    this.plan = this.#experiment.plan;
    this.name = this.#experiment.name;
    this.folder = this.#experiment.folder;
  }

  /**
   * Every planned run in the order of the plan, with the fields of `mlab runs ls --json`: state, score, improvement,
   * steps, seconds, tokens, cost. `unreadable` are the ids of runs whose files are damaged; they are left out.
   */
  async runs(
    signal: AbortSignal = new AbortController().signal,
  ): Promise<{ runs: ReportRun[]; unreadable: string[] }> {
    const surroundings = { log: () => {}, signal };
    const { evaluations, unreadable } = await evaluationsOf(surroundings, [this.#experiment]);
    return { runs: buildRuns(evaluations), unreadable };
  }

  /** The finished steps of a run, on the selected branch by default. */
  *steps(run: string, branch?: string): Generator<StoredStep> {
    const { folder, events } = this.#history(run, branch);
    for (const step of stepsOf(events)) yield storedStep(folder, step);
  }

  /** Every event of a run's trace, on all branches; docs/trace-format.md describes them. */
  events(run: string): TraceEvent[] {
    return readTraceSync(this.#experiment.runFolder(run).tracePath).events;
  }

  /**
   * Writes the workspace after a step to a new or empty folder. An agent wrote these files: do not run them outside a
   * sandbox. Repositories of git and the like are left out.
   * @throws RangeError if there is no such step, UserError `not_empty`
   */
  async restore(
    run: string,
    step: number,
    target: string,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<void> {
    const { folder, events } = this.#history(run);
    const found = stepsOf(events).find((one) => one.step === step);
    if (found === undefined) throw new RangeError(`${this.name}/${run} has no finished step ${step}`);
    const options = { withoutRepositories: true, signal };
    const place = resolve(target);
    refuseOccupied(place);
    await makeWholeFolder(place, signal, (part) =>
      restoreSnapshot(folder.objects, found.finished.snapshot, part, options),
    );
  }

  #history(run: string, branch?: string): { folder: RunFolder; events: TraceEvent[] } {
    const folder = this.#experiment.runFolder(run);
    return {
      folder,
      events: historyOf(readTraceSync(folder.tracePath).events, BranchId.optional().parse(branch)),
    };
  }
}

/** The experiments in a folder (`experiments`, or that of `--dir`), by name. */
export function readExperiments(folder: string): StoredExperiment[] {
  return listExperiments(resolve(folder)).map((one) => readExperiment(one.folder));
}

/** @throws UserError if there is none, or none that this version can read */
export function readExperiment(folder: string): StoredExperiment {
  return new StoredExperiment(folder);
}

function storedStep(
  { objects }: RunFolder,
  { step, started, performed, proposed, finished }: TakenStep,
): StoredStep {
  const read = ({ action, args }: TracedAction) => ({ action, args: JSON.parse(resolveText(objects, args)) });
  return {
    number: step,
    ...read(performed),
    proposed: proposed && read(proposed),
    observation: resolveText(objects, finished.observation),
    status: finished.status,
    started: started.time,
    finished: finished.time,
  };
}
