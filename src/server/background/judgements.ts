import { join } from 'node:path';
import { EvaluationIndex } from '../../evaluation/index.ts';
import type {
  LiveEvent,
  RunEvaluation,
  RunId,
  StepReading,
  StepSummary,
  StepWarning,
} from '../../schema/index.ts';
import type { RunFolder } from '../../store/index.ts';
import type { ExperimentPlace } from '../catalogue/known-experiment.ts';
import { fileState } from '../catalogue/run-lines.ts';
import type { Background } from './background.ts';
import type { Results } from './jobs.ts';
import { Remembered } from './remembered.ts';

/** For the runs that were viewed last. */
const maxKept = 30;

export interface Judgement {
  /** Null: not known yet, or it can't be made. */
  evaluation: RunEvaluation | null;
  warnings: readonly StepWarning[];
  readings: readonly StepReading[];
  summaries: readonly StepSummary[];
  /** Whether it is being made; a live event will follow. */
  pending: boolean;
  /** Why it can't be made. */
  unreadable: string | null;
}

/**
 * The evaluation of a run, as in reports, and warnings about its steps: returned at once if known, else as soon as they
 * are made.
 */
export class Judgements implements Disposable {
  readonly #background: Background;
  readonly #remembered: Remembered<Results['evaluation']>;
  readonly #indexes = new Map<string, EvaluationIndex>();
  readonly #runs = new Map<string, { experiment: string; run: RunId }>();
  #lastKnown: { folder: string; state: string; evaluation: RunEvaluation | null } | null = null;

  constructor(background: Background, tell: (event: LiveEvent) => void) {
    this.#background = background;
    this.#remembered = new Remembered({
      ...{ most: maxKept, onProgress: () => {} },
      onDone: (key) => {
        const run = this.#runs.get(key);
        this.#runs.delete(key);
        if (run !== undefined) tell({ kind: 'evaluation', ...run });
      },
    });
  }

  /** @param waitMs how long to wait for what is not known yet */
  async of(place: ExperimentPlace, folder: RunFolder, waitMs = 0): Promise<Judgement> {
    const key = folder.folder;
    this.#runs.set(key, { experiment: place.id, run: folder.id });
    const job = { folder: place.folder, run: folder.id };
    const state = evidenceState(folder.folder);
    const { value, failure, pending } = await this.#remembered.get(key, state, waitMs, () =>
      this.#background.do('evaluation', job),
    );
    return {
      evaluation: value?.evaluation ?? this.#knownAt(state, place, folder),
      warnings: value?.warnings ?? [],
      readings: value?.readings ?? [],
      summaries: value?.summaries ?? [],
      pending: pending !== null,
      unreadable: failure?.message ?? null,
    };
  }

  /** An earlier evaluation that is still valid. */
  known({ root }: ExperimentPlace, folder: RunFolder): RunEvaluation | null {
    const index = this.#indexes.get(root) ?? new EvaluationIndex(root);
    this.#indexes.set(root, index);
    return index.known(folder.folder);
  }

  /** While the warnings of a run are made, its pages ask for the same evaluation repeatedly. */
  #knownAt(state: string, place: ExperimentPlace, folder: RunFolder): RunEvaluation | null {
    if (this.#lastKnown?.folder !== folder.folder || this.#lastKnown.state !== state)
      this.#lastKnown = { folder: folder.folder, state, evaluation: this.known(place, folder) };
    return this.#lastKnown.evaluation;
  }

  [Symbol.dispose](): void {
    this.#remembered[Symbol.dispose]();
    for (const index of this.#indexes.values()) index[Symbol.dispose]();
    this.#indexes.clear();
  }
}

/** The state of the files from which a run's evaluation is made. */
export function evidenceState(folder: string): string {
  const files = ['run.json', 'trace.jsonl', 'trace.jsonl.zst', 'grades.jsonl', 'verifications.jsonl'];
  return files.map((name) => fileState(join(folder, name)) ?? '–').join('\n');
}
