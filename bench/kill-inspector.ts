import {
  checkRun,
  type RecordedStep,
  type RunFolder,
  readTraceSync,
  resolveText,
  type StoreProblem,
  stepsOf,
} from '../src/store/index.ts';

/** What a run's files hold after a process that worked on it has died. */
export interface Found {
  /** Numbers of steps that had been finished and are not there, or are not what they were. */
  lostSteps: number[];
  problems: StoreProblem[];
  /** 1 when the last line was cut in the middle: its event never counted. */
  tornLines: number;
}

/** Looks at one run after each death, and remembers what it saw. */
export class Inspector {
  readonly #run: RunFolder;
  /** Every step that was ever found or told to be finished; the text once it was found. */
  readonly #known = new Map<number, string | null>();

  constructor(run: RunFolder) {
    this.#run = run;
  }

  /** @param told numbers of the steps that the dead process had told to be finished */
  async look(told: readonly number[]): Promise<Found> {
    for (const step of told) if (!this.#known.has(step)) this.#known.set(step, null);
    const present = new Map(finishedSteps(this.#run).map((step) => [step.step, textOf(step)]));
    const lostSteps = [...this.#known]
      .filter(([step, text]) => !present.has(step) || (text !== null && present.get(step) !== text))
      .map(([step]) => step);
    for (const [step, text] of present) this.#known.set(step, text);
    const found = await checkRun(this.#run);
    return {
      lostSteps,
      problems: found.filter(({ code }) => code !== 'torn_line'),
      tornLines: found.filter(({ code }) => code === 'torn_line').length,
    };
  }
}

/** Every finished step of a run; none where it has no trace yet. */
export function finishedSteps(run: RunFolder): RecordedStep[] {
  return run.hasTrace() ? stepsOf(readTraceSync(run.tracePath).events) : [];
}

/** What a run did: every action with its arguments and how it ended. */
export function actionsOf(run: RunFolder): string[] {
  return finishedSteps(run).map(({ started, finished }) =>
    JSON.stringify([started.action, resolveText(run.objects, started.args), finished.status]),
  );
}

/** The two events of a step, which never change once they are written. */
function textOf({ started, finished }: RecordedStep): string {
  return JSON.stringify([started, finished]);
}
