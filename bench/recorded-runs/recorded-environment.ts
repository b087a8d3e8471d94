import type { ActionDescription, Environment, ModelReply, StepResult } from '../../src/environment/index.ts';
import {
  type Action,
  type ActionStatus,
  type Budget,
  defaultLimits,
  type ModelRequest,
  TaskBrief,
} from '../../src/schema/index.ts';
import { RecordedGuide, type TakenTurn } from './recorded-guide.ts';
import type { RecordedRun } from './recorded-run.ts';

const over = 'The recorded run is over.';
const shutDown = /^The environment has shut down/;

/** Answers an agent with the contents of a recorded run, turn by turn, whatever the agent does in the turn. */
export class RecordedEnvironment implements Environment {
  readonly id = 'main';
  readonly origin = null;
  readonly task: TaskBrief;
  readonly actions: readonly ActionDescription[];
  readonly budget: Budget;
  readonly #guide: RecordedGuide;
  #steps = 0;
  #ended = false;

  constructor(run: RecordedRun, actions: readonly ActionDescription[]) {
    this.#guide = new RecordedGuide(run);
    this.actions = actions;
    this.task = briefOf(run);
    this.budget = this.#budgetNow();
  }

  get turns(): readonly TakenTurn[] {
    return this.#guide.turns;
  }

  async step(action: Action): Promise<StepResult> {
    if (this.#ended) return this.#result('closed', over);
    this.#steps += 1;
    const recorded = this.#guide.take(action);
    const observation = recorded?.observation ?? 'The recorded run holds nothing of this.';
    if (this.#guide.isOver || action.name === 'Final Answer' || shutDown.test(observation))
      this.#ended = true;
    return this.#result(recorded === undefined ? 'failed' : 'ok', observation);
  }

  async ask(request: ModelRequest): Promise<ModelReply> {
    const text = this.#ended ? null : this.#guide.reply(request);
    if (text !== null) return { kind: 'answered', text, tool_calls: [], finish: 'stop' };
    this.#ended = true;
    return { kind: 'closed', message: over };
  }

  fork(): Promise<never> {
    return Promise.reject(new Error('the original had no branches'));
  }

  select(): void {}

  giveUp(): void {
    this.#ended = true;
  }

  note(): void {}

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

/** The prompts of the recorded runs contain only the research problem. */
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
