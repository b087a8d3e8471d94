import type { Spent } from '../../src/schema/index.ts';
import {
  checkRun,
  type RunFolder,
  readTraceSync,
  resolveText,
  type StoreProblem,
  spentOf,
  stepsOf,
  type TakenStep,
} from '../../src/store/index.ts';

/** The state of a run's files after the process that executed it has died. */
export interface Found {
  /** `branch:number` of steps that had been finished and are missing, or differ. */
  lostSteps: string[];
  problems: StoreProblem[];
  /** 1 if the last line was torn: its event never counted. */
  tornLines: number;
}

/** Checks one run after each death, and remembers what it saw. */
export class Inspector {
  readonly #run: RunFolder;
  /** Every step that was ever found or reported as finished; with its text once it was found. */
  readonly #known = new Map<string, string | null>();

  constructor(run: RunFolder) {
    this.#run = run;
  }

  /** @param reported the steps that the dead process had reported as finished */
  async look(reported: readonly string[]): Promise<Found> {
    for (const step of reported) if (!this.#known.has(step)) this.#known.set(step, null);
    const present = new Map(finishedSteps(this.#run).map((step) => [nameOf(step), textOf(step)]));
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

/** Every finished step of a run; none if it has no trace yet. */
function finishedSteps(run: RunFolder): TakenStep[] {
  return run.hasTrace() ? stepsOf(readTraceSync(run.tracePath).events) : [];
}

/** What an undisturbed run and a killed one must have in common at their end. */
export interface Outcome {
  /** Every action of every branch with its arguments and how it ended. */
  actions: string[];
  selected: string;
  grades: string[];
  /** By the trace and by the record. */
  spent: [Spent, Spent | undefined];
}

export function outcomeOf(run: RunFolder): Outcome {
  const { events } = readTraceSync(run.tracePath);
  const actions = stepsOf(events).map((step) => {
    const { started, finished } = step;
    return JSON.stringify([
      nameOf(step),
      started.action,
      resolveText(run.objects, started.args),
      finished.status,
    ]);
  });
  const ended = events.find(({ kind }) => kind === 'run_ended');
  const { grades } = run.readGrades();
  return {
    // Those of several branches are done in varying order.
    actions: actions.sort(),
    selected: (ended !== undefined && 'branch' in ended ? ended.branch : undefined) ?? 'main',
    grades: grades
      .map(({ branch = 'main', step, final, valid, score }) => `${branch}:${step} ${final} ${valid} ${score}`)
      .sort(),
    spent: [rounded(spentOf(events)), roundedOrNone(run.readRecord()?.spent)],
  };
}

/** Marks of what is in the trace: a process that resumes the run only repeats it. */
export function knownMarks(run: RunFolder): string[] {
  if (!run.hasTrace()) return [];
  const { events } = readTraceSync(run.tracePath);
  // What a branch begins with is made when its first step is taken.
  const begun = new Set(
    events.flatMap((event) => (event.kind === 'step_finished' ? [event.branch ?? 'main'] : [])),
  );
  const selections = events
    .filter(({ kind }) => kind === 'branch_selected')
    .map((_, index) => `select ${index + 1}`);
  return [...[...begun].map((branch) => `fork ${branch}`), ...selections];
}

function nameOf({ step, finished }: TakenStep): string {
  return `${finished.branch ?? 'main'}:${step}`;
}

/** The two events of a step, which never change once they are written. */
function textOf({ started, finished }: TakenStep): string {
  return JSON.stringify([started, finished]);
}

/** Money is added up in varying order. */
function rounded(spent: Spent): Spent {
  return { ...spent, money: Math.round(spent.money * 1e9) / 1e9 };
}

function roundedOrNone(spent: Spent | undefined): Spent | undefined {
  return spent === undefined ? undefined : rounded(spent);
}
