import {
  type ActionDescription,
  type Branch,
  describeActions,
  type Environment,
  type GiveUpReason,
  type ModelReply,
  type StepResult,
} from '../environment/index.ts';
import { ScriptedModels } from '../models/index.ts';
import {
  type Action,
  type Budget,
  type ModelRequest,
  TaskBrief,
  type TaskBriefInput,
} from '../schema/index.ts';
import { budgetOf, type FakeRun, MemoryBranch, performed } from './fake-branch.ts';
import type { FakeBranch, FakeEnvironmentSettings } from './fake-settings.ts';

/**
 * An environment for tests of agents: files in memory, a clock that only scripts advance, scripted language models, and
 * a record of everything that the agent did. Nothing is executed: `execute` says what a script prints and writes.
 * Arguments of actions are checked as in a run.
 */
export class FakeEnvironment implements Environment {
  readonly id: Branch['id'];
  readonly origin = null;
  readonly task: TaskBrief;
  readonly actions: readonly ActionDescription[];
  /** The budget before the first step. */
  readonly budget: Budget;
  /** The actions that the agent took, on all branches, in order. */
  readonly taken: Action[];
  /** Their results. */
  readonly results: StepResult[];
  /** The source of every script that was run, on all branches, in order. */
  readonly executed: string[];
  /** The requests to language models, in order. */
  readonly asked: ModelRequest[] = [];
  readonly notes: Record<string, string>[] = [];
  /** The workspace of `main`: content by path. */
  readonly files: Map<string, string>;
  givenUp: { reason: GiveUpReason; message: string } | null = null;
  readonly #run: FakeRun;
  readonly #main: MemoryBranch;
  readonly #models: ScriptedModels | null;
  #selected: MemoryBranch;

  constructor(settings: FakeEnvironmentSettings = {}) {
    const { task, files = {}, replies } = settings;
    this.task = briefOf(task);
    this.#run = {
      ...{ settings, task: this.task, taken: [], results: [], executed: [], finalAnswer: null },
      ...{ forks: 0, secondsUsed: 0, tokensUsed: 0, ended: false, late: 0 },
    };
    const start = { files: new Map(Object.entries(files)), written: null, lastScript: 0 };
    this.#main = new MemoryBranch(this.#run, start);
    this.#selected = this.#main;
    ({ id: this.id, files: this.files } = this.#main);
    ({ taken: this.taken, results: this.results, executed: this.executed } = this.#run);
    this.actions = settings.actions ?? describeActions().filter(({ name }) => performed.has(name));
    this.budget = budgetOf(this.#run);
    this.#models = replies === undefined ? null : new ScriptedModels(replies);
  }

  step(action: Action): Promise<StepResult> {
    return this.#main.step(action);
  }

  fork(at?: number): Promise<FakeBranch> {
    return this.#main.fork(at);
  }

  async ask(request: ModelRequest): Promise<ModelReply> {
    if (this.isOver) return { kind: 'closed', message: 'The run is over.' };
    this.asked.push(request);
    if (budgetOf(this.#run).tokens_left === 0) return this.#closed('tokens');
    if (this.#models === null) throw new Error('This environment has no language models: give it replies.');
    const { answer } = await this.#models.ask(request, { signal: new AbortController().signal });
    const { tokens, seconds } = this.#run.settings.use?.(request, answer) ?? { tokens: 0, seconds: 0 };
    this.#run.tokensUsed += tokens;
    this.#run.secondsUsed += seconds;
    return budgetOf(this.#run).seconds_left <= 0 ? this.#closed('time') : answer;
  }

  select(branch: Branch): void {
    this.#selected = branch instanceof MemoryBranch ? branch : this.#main;
  }

  giveUp(reason: GiveUpReason, message: string): void {
    this.givenUp ??= { reason, message };
    this.#run.ended = true;
  }

  note(entries: Record<string, string>): void {
    this.notes.push(entries);
  }

  /** The branch whose workspace would be graded: its `files` are the submission. */
  get selected(): FakeBranch {
    return this.#selected;
  }

  /** The text of the agent's Final Answer; null if it gave none. */
  get finalAnswer(): string | null {
    return this.#run.finalAnswer;
  }

  get isOver(): boolean {
    return this.#run.ended;
  }

  /** How many steps the agent asked for after the end of the run. */
  get late(): number {
    return this.#run.late;
  }

  #closed(limit: string): ModelReply {
    this.#run.ended = true;
    return { kind: 'closed', message: `The run has used up its ${limit}.` };
  }
}

function briefOf(given: Partial<TaskBriefInput> = {}): TaskBrief {
  return TaskBrief.parse({
    id: 'a-task',
    title: 'A task',
    problem: 'Make it better.',
    entry: 'train.py',
    metric: { name: 'MAE', unit: 'units', direction: 'minimize' },
    read_only: [],
    submission: {
      description: 'One prediction for each row.',
      files: [
        {
          format: 'csv',
          path: 'submission.csv',
          id: { column: 'id', from: 'data/test.csv' },
          columns: [{ name: 'y' }],
        },
      ],
    },
    ...given,
  });
}
