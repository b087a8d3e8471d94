import type {
  ActionDescription,
  Environment,
  GiveUpReason,
  ModelReply,
  StepResult,
} from '../../src/environment/index.ts';
import {
  type Action,
  type ActionStatus,
  type Budget,
  defaultLimits,
  type ModelRequest,
  TaskBrief,
} from '../../src/schema/index.ts';
import { logAction, type RecordedAction, type RecordedRun, recallAction } from './recorded-run.ts';

const shutDown = /^The environment has shut down/;

/** What the agent did in one turn. */
export interface TakenTurn {
  steps: Action[];
  /** Replies of its model that it asked for. */
  replies: number;
}

/** Answers an agent with what a recorded run holds, turn by turn, whatever the agent does in the turn. */
export class RecordedEnvironment implements Environment {
  readonly task: TaskBrief;
  readonly actions: readonly ActionDescription[];
  readonly budget: Budget;
  readonly turns: TakenTurn[] = [{ steps: [], replies: 0 }];
  givenUp: { reason: GiveUpReason; message: string } | null = null;
  readonly #run: RecordedRun;
  /** How many of a list's replies were given. */
  readonly #used = new Map<readonly string[], number>();
  #steps = 0;
  #ended = false;

  constructor(run: RecordedRun, actions: readonly ActionDescription[]) {
    this.#run = run;
    this.actions = actions;
    this.task = briefOf(run);
    this.budget = this.#budgetNow();
  }

  async step(action: Action): Promise<StepResult> {
    if (this.#ended) return this.#result('closed', 'The recorded run is over.');
    this.#steps += 1;
    this.#taken.steps.push(action);
    const recorded = this.#counterpart(action);
    const isLast = this.#run.turns[this.turns.length] === undefined;
    if (action.name === logAction && recorded?.action.name === logAction) {
      this.turns.push({ steps: [], replies: 0 });
      if (isLast) this.#ended = true;
    }
    const observation = recorded?.observation ?? 'The recorded run holds nothing of this.';
    if (action.name === 'Final Answer' || shutDown.test(observation)) this.#ended = true;
    return this.#result(recorded === undefined ? 'failed' : 'ok', observation);
  }

  async ask({ role, purpose }: ModelRequest): Promise<ModelReply> {
    const turn = this.#run.turns[this.turns.length - 1];
    if (this.#ended || turn === undefined) return { kind: 'closed', message: 'The recorded run is over.' };
    if (role === 'agent') return this.#replyOf(turn.replies[this.#taken.replies++]);
    const summaries = purpose === 'summarise a step' ? turn.stepSummaries : turn.observationSummaries;
    const used = this.#used.get(summaries) ?? 0;
    this.#used.set(summaries, used + 1);
    return this.#replyOf(summaries[used] ?? '');
  }

  giveUp(reason: GiveUpReason, message: string): void {
    this.givenUp ??= { reason, message };
    this.#ended = true;
  }

  note(): void {}

  get #taken(): TakenTurn {
    const turn = this.turns.at(-1);
    if (turn === undefined) throw new Error('there is always a turn');
    return turn;
  }

  /** What the original did in this turn that has the same place: log entry, look into the log, or the action itself. */
  #counterpart(action: Action): RecordedAction | undefined {
    const steps = this.#run.turns[this.turns.length - 1]?.steps ?? [];
    if (action.name === logAction || action.name === recallAction) {
      return steps.findLast((step) => step.action.name === action.name);
    }
    return steps.find((step) => step.action.name === action.name);
  }

  #replyOf(text: string | undefined): ModelReply {
    if (text !== undefined) return { kind: 'answered', text, tool_calls: [], finish: 'stop' };
    // The original went on where the agent asks again.
    this.#ended = true;
    return { kind: 'closed', message: 'The recorded run holds no further reply of this turn.' };
  }

  #result(status: ActionStatus, observation: string): StepResult {
    return {
      step: this.#steps,
      status,
      observation,
      exitCode: null,
      durationMs: 0,
      budget: this.#budgetNow(),
      submission: { present: false, written_at_step: null, stale: false },
      ended: this.#ended,
    };
  }

  #budgetNow(): Budget {
    const { steps, wall_seconds } = defaultLimits;
    return {
      steps_left: steps - this.#steps,
      seconds_left: wall_seconds,
      steps_used: this.#steps,
      seconds_used: 0,
      tokens_left: null,
      money_left: null,
    };
  }
}

/** The recorded runs tell the research problem alone. */
function briefOf({ task, problem }: RecordedRun): TaskBrief {
  return TaskBrief.parse({
    id: task.toLowerCase(),
    title: task,
    problem: problem.trim() === '' ? task : problem,
    entry: 'train.py',
    metric: { name: 'score', unit: 'unknown', direction: 'maximize' },
    read_only: [],
    submission: {
      description: 'As the problem says.',
      files: [
        {
          format: 'csv',
          path: 'submission.csv',
          id: { column: 'id', from: 'test.csv' },
          columns: [{ name: 'value' }],
        },
      ],
    },
  });
}
