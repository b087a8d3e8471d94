import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { nearest } from '../../lib/nearest.ts';
import type { ExperimentLine, LiveEvent, RunId } from '../../schema/index.ts';
import { listExperiments, type RunFolder } from '../../store/index.ts';
import { notFound } from '../not-found.ts';
import type { TraceIndex } from '../trace/trace-index.ts';
import { yielder } from '../yielder.ts';
import { type ExperimentPlace, KnownExperiment } from './known-experiment.ts';
import { fileState } from './run-lines.ts';

/** Experiments whose runs have all ended are checked in turn, so many that they have this many runs. */
const restingRunsAtOnce = 500;

/** The runs to show, by the folder of their experiment; all runs of an experiment that is not in it. */
export type OnlyRuns = ReadonlyMap<string, ReadonlySet<RunId>>;

/** The experiments of some folders, by the ids in addresses. It notices changes by polling. */
export class Catalogue {
  readonly #folders: readonly string[];
  readonly #onlyRuns: OnlyRuns;
  readonly #index: TraceIndex;
  readonly #send: (event: LiveEvent) => void;
  #known = new Map<string, KnownExperiment>();
  #looking: Promise<void> | null = null;
  readonly #ready = Promise.withResolvers<void>();
  #turn = 0;

  /** @param folders each contains experiments, or is one */
  constructor(
    folders: readonly string[],
    index: TraceIndex,
    send: (event: LiveEvent) => void,
    onlyRuns: OnlyRuns = new Map(),
  ) {
    this.#folders = folders.map((folder) => resolve(folder));
    this.#onlyRuns = onlyRuns;
    this.#index = index;
    this.#send = send;
  }

  /** Resolves when the experiments are known, but perhaps not their runs. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Names of the folders, for people. */
  get folderNames(): string[] {
    return this.#folders.map((folder) => basename(folder));
  }

  /** What is known now, newest first. */
  get lines(): ExperimentLine[] {
    const age = ({ created, changed }: ExperimentLine) => created ?? changed ?? 0;
    return [...this.#known.values()].map(({ line }) => line).sort((one, other) => age(other) - age(one));
  }

  get experiments(): KnownExperiment[] {
    return [...this.#known.values()];
  }

  /** @throws UserError `unknown_experiment` */
  experiment(id: string): KnownExperiment {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const meant = nearest(id, [...this.#known.keys()]);
    throw notFound(
      'unknown_experiment',
      `There is no experiment "${id}".`,
      meant && `Did you mean "${meant}"?`,
    );
  }

  /** @throws UserError `unknown_experiment`, `unknown_run` */
  run(experimentId: string, runId: string): { experiment: KnownExperiment; folder: RunFolder } {
    const experiment = this.experiment(experimentId);
    const folder = experiment.runFolder(runId);
    if (folder !== null) return { experiment, folder };
    throw notFound('unknown_run', `The experiment ${experimentId} has no run "${runId}".`, null);
  }

  /**
   * Looks for new, removed and changed experiments. Concurrent callers share one search.
   * @param shown ids of experiments in open pages: they are checked each time, even if all their runs have ended
   */
  async look(shown: ReadonlySet<string> = new Set()): Promise<void> {
    this.#looking ??= this.#lookOnce(shown).finally(() => {
      this.#looking = null;
    });
    await this.#looking;
  }

  /** Checks one experiment's runs now. */
  async refresh(experiment: KnownExperiment): Promise<void> {
    const { isRead: wasRead, message } = experiment;
    const { lines, results } = await experiment.refresh(this.#index);
    const { id } = experiment.place;
    if (wasRead) {
      for (const line of lines) this.#send({ kind: 'run', experiment: id, line });
      for (const run of results) this.#send({ kind: 'results', experiment: id, run });
    }
    if (!wasRead || lines.length > 0 || experiment.message !== message)
      this.#send({ kind: 'experiment', line: experiment.line });
  }

  async #lookOnce(shown: ReadonlySet<string>): Promise<void> {
    await this.#findExperiments().finally(() => this.#ready.resolve());
    const isAwake = (experiment: KnownExperiment) => !experiment.isOver || shown.has(experiment.place.id);
    const awake = this.experiments.filter(isAwake);
    const resting = this.experiments.filter((experiment) => !isAwake(experiment));
    for (const experiment of [...awake, ...this.#some(resting)]) await this.refresh(experiment);
  }

  /** Somebody may have them graded, or resume them. */
  #some(resting: readonly KnownExperiment[]): KnownExperiment[] {
    const chosen: KnownExperiment[] = [];
    for (let runs = 0; runs < restingRunsAtOnce && chosen.length < resting.length; this.#turn++) {
      const experiment = resting[this.#turn % resting.length];
      if (experiment === undefined) break;
      chosen.push(experiment);
      runs += experiment.runs.length;
    }
    return chosen;
  }

  async #findExperiments(): Promise<void> {
    const yieldTurn = yielder();
    const found = new Map<string, KnownExperiment>();
    for (const place of this.#places()) {
      await yieldTurn();
      const known = this.#known.get(place.id);
      const isSame =
        known?.place.folder === place.folder &&
        known.planState === fileState(join(place.folder, 'plan.json'));
      const experiment = isSame ? known : new KnownExperiment(place);
      found.set(place.id, experiment);
      // Can be shown while the rest is read.
      if (!isSame) this.#known.set(place.id, experiment);
    }
    for (const id of this.#known.keys())
      if (!found.has(id)) this.#send({ kind: 'experiment_gone', experiment: id });
    this.#known = found;
  }

  #places(): ExperimentPlace[] {
    const taken = new Map<string, number>();
    const places = this.#folders.flatMap((folder) =>
      existsSync(join(folder, 'plan.json'))
        ? [
            {
              ...{ name: basename(folder), root: dirname(folder), folder },
              only: this.#onlyRuns.get(folder) ?? null,
            },
          ]
        : listExperiments(folder).map((one) => ({ ...one, root: folder, only: null })),
    );
    return places.map((place) => {
      const count = (taken.get(place.name) ?? 0) + 1;
      taken.set(place.name, count);
      return { ...place, id: count === 1 ? place.name : `${place.name}~${count}` };
    });
  }
}
