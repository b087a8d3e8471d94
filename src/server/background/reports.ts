import { sha256 } from '../../lib/hash.ts';
import type {
  Comparison,
  ComparisonPage,
  Convention,
  LiveEvent,
  Progress,
  Report,
  ReportPage,
} from '../../schema/index.ts';
import type { KnownExperiment } from '../catalogue/known-experiment.ts';
import { judgedState } from '../catalogue/run-lines.ts';
import { notFound } from '../not-found.ts';
import { yielder } from '../yielder.ts';
import type { Background } from './background.ts';
import { evidenceState } from './judgements.ts';
import { Remembered } from './remembered.ts';

const waitMs = 250;

/** Reports and comparisons, made in the background and kept until one of their runs changes. */
export class Reports implements Disposable {
  readonly #background: Background;
  readonly #tasks: string[];
  readonly #reports: Remembered<{ report: Report; unreadable: string[] }>;
  readonly #comparisons: Remembered<{ comparison: Comparison }>;

  /** @param tasks folders of tasks, for their published results */
  constructor(background: Background, tasks: readonly string[], tell: (event: LiveEvent) => void) {
    this.#background = background;
    this.#tasks = [...tasks];
    const experimentOf = (key: string) => key.split('\n')[0] ?? '';
    const say = (key: string, { done, total }: Progress) =>
      tell({ kind: 'report', experiment: experimentOf(key), done, total });
    const options = {
      most: 12,
      onProgress: say,
      onDone: (key: string) => say(key, { done: 1, total: 1 }),
    };
    this.#reports = new Remembered(options);
    this.#comparisons = new Remembered(options);
  }

  [Symbol.dispose](): void {
    this.#reports[Symbol.dispose]();
    this.#comparisons[Symbol.dispose]();
  }

  async report(experiment: KnownExperiment, convention: Convention): Promise<ReportPage> {
    const { id, folder, only } = experiment.place;
    const job = { folder, runs: only && [...only], convention, tasks: this.#tasks };
    const { value, failure, pending } = await this.#reports.get(
      `${id}\n${convention}`,
      await stateOf([experiment]),
      waitMs,
      (onProgress) => this.#background.do('report', job, onProgress),
    );
    if (failure !== null && value === null) throw failure;
    return { report: value?.report ?? null, pending, unreadable: value?.unreadable ?? [] };
  }

  /** Two experiments by their ids, or two agents of one by their labels. */
  async compare(experiments: readonly KnownExperiment[], a: string, b: string): Promise<ComparisonPage> {
    const [first] = experiments;
    if (first === undefined)
      throw notFound('unknown_experiment', 'The address names no experiment to compare.', null);
    const job = { folders: experiments.map(({ place }) => place.folder), a, b, tasks: this.#tasks };
    const { value, failure, pending } = await this.#comparisons.get(
      [first.place.id, ...job.folders, a, b].join('\n'),
      await stateOf(experiments),
      waitMs,
      (onProgress) => this.#background.do('comparison', job, onProgress),
    );
    if (failure !== null && value === null) throw failure;
    return { comparison: value?.comparison ?? null, pending };
  }
}

/** Runs that are not finished are in no rate: only their end makes a new report necessary, not their steps. */
async function stateOf(experiments: readonly KnownExperiment[]): Promise<string> {
  const yieldTurn = yielder();
  const states: string[] = [];
  for (const experiment of experiments) {
    for (const { folder, status } of experiment.runFolders()) {
      states.push(status, status === 'running' ? judgedState(folder) : evidenceState(folder));
      await yieldTurn();
    }
  }
  return sha256(states.join('\n\n'));
}
