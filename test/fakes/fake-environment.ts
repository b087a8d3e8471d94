import type {
  ActionDescription,
  Branch,
  Environment,
  GiveUpReason,
  ModelReply,
  StepResult,
  SubmissionSeen,
} from '../../src/environment/index.ts';
import {
  type Action,
  type ActionStatus,
  BranchId,
  type Budget,
  type ModelAnswer,
  type ModelRequest,
  TaskBrief,
} from '../../src/schema/index.ts';

/** What running a script came to. */
export interface Execution {
  output: string;
  /** Null where a signal ended it. */
  exitCode: number | null;
  seconds: number;
  status?: ActionStatus;
  /** Files that the script wrote. */
  writes?: Record<string, string>;
}

export interface FakeEnvironmentSettings {
  task?: TaskBrief;
  files: Record<string, string>;
  /** Runs a script; the files are those of the workspace. */
  execute(source: string, files: ReadonlyMap<string, string>): Execution;
  steps?: number;
  seconds?: number;
  /** Of one script: it is stopped after this long. */
  scriptSeconds?: number;
  /** Whether Validate Submission accepts what lies in the workspace. */
  accepts?(files: ReadonlyMap<string, string>): boolean;
  /** What the language models answer to the n-th request, counted from 1; absent: there are none. */
  answer?(request: ModelRequest, count: number): string | ModelReply | undefined;
  /** Whether it has the actions for the research log: one takes everything, the other always says the same. */
  logActions?: boolean;
  /** What agents are told of the actions. */
  actions?: readonly ActionDescription[];
  /** Results of an earlier run, to be given again before anything is done anew. */
  recorded?: readonly StepResult[];
  /** How Inspect Script Lines shows a line. */
  showLine?(line: string, number: number): string;
  /** Last line of what Read File answers for a file that it cuts; empty for none. */
  cutRemark?: string;
  /** First line of what Inspect Script Lines answers; empty for none. */
  heading?: string;
  /** Its last line; empty for none. */
  footing?: string;
}

/** What the branches of a run share. */
interface Shared {
  forks: number;
  taken: Action[];
  results: StepResult[];
  executed: string[];
  secondsUsed: number;
  ended: boolean;
}

/** Files in memory, a clock that only scripts move, and a record of everything that was asked. A fork is one of its own. */
export class FakeEnvironment implements Environment {
  readonly id: Branch['id'];
  readonly origin: Branch['origin'];
  readonly task: TaskBrief;
  readonly actions: readonly ActionDescription[];
  readonly budget: Budget;
  /** Of all branches. */
  readonly taken: Action[];
  readonly results: StepResult[];
  readonly notes: Record<string, string>[] = [];
  /** What was asked of the language models, in order. */
  readonly asked: ModelRequest[] = [];
  readonly files: Map<string, string>;
  /** The source of every script that was run, in order. */
  readonly executed: string[];
  /** The branch that is handed in. */
  selected: FakeEnvironment = this;
  /** Actions that came after the end. */
  late = 0;
  finalAnswer: string | null = null;
  givenUp: { reason: GiveUpReason; message: string } | null = null;
  readonly #settings: FakeEnvironmentSettings;
  readonly #shared: Shared;
  #written: number | null = null;
  #lastScript = 0;

  constructor(settings: FakeEnvironmentSettings, from?: { id: string; step: number; shared: Shared }) {
    this.#settings = settings;
    this.id = BranchId.parse(from?.id ?? 'main');
    this.origin = from === undefined ? null : { branch: BranchId.parse('main'), step: from.step };
    this.#shared = from?.shared ?? {
      ...{ forks: 0, taken: [], results: [], executed: [], secondsUsed: 0, ended: false },
    };
    this.taken = this.#shared.taken;
    this.results = this.#shared.results;
    this.executed = this.#shared.executed;
    this.task = settings.task ?? briefOf({});
    this.actions = settings.actions ?? [];
    this.files = new Map(Object.entries(settings.files));
    this.budget = this.#budgetNow();
  }

  step(action: Action): Promise<StepResult> {
    if (this.#shared.ended) {
      this.late += 1;
      return Promise.resolve(this.#result('closed', 'The run is over.', null, 0));
    }
    this.taken.push(action);
    const recorded = this.#settings.recorded?.[this.taken.length - 1];
    const result = recorded ?? this.#act(action);
    this.results.push(result);
    return Promise.resolve(result);
  }

  ask(request: ModelRequest): Promise<ModelReply> {
    if (this.#shared.ended) return Promise.resolve({ kind: 'closed', message: 'The run is over.' });
    this.asked.push(request);
    const answer = this.#settings.answer?.(request, this.asked.length);
    if (answer === undefined) return Promise.reject(new Error('this environment has no language model'));
    const text: ModelAnswer = { kind: 'answered', text: '', tool_calls: [], finish: 'stop' };
    return Promise.resolve(typeof answer === 'string' ? { ...text, text: answer } : answer);
  }

  /** From the last step alone. */
  fork(at?: number): Promise<Branch> {
    if (at !== undefined) return Promise.reject(new Error('it forks at the last step'));
    this.#shared.forks += 1;
    const id = `b${this.#shared.forks}`;
    const files = Object.fromEntries(this.files);
    const from = { id, step: this.taken.length, shared: this.#shared };
    const branch = new FakeEnvironment({ ...this.#settings, files }, from);
    branch.#written = this.#written;
    branch.#lastScript = this.#lastScript;
    return Promise.resolve(branch);
  }

  select(branch: Branch): void {
    if (branch instanceof FakeEnvironment) this.selected = branch;
  }

  giveUp(reason: GiveUpReason, message: string): void {
    this.givenUp ??= { reason, message };
    this.#shared.ended = true;
  }

  note(entries: Record<string, string>): void {
    this.notes.push(entries);
  }

  #act({ name, args }: Action): StepResult {
    // What models give as arguments can be anything.
    if (typeof args !== 'object' || args === null || Array.isArray(args))
      return this.#result('invalid', 'The arguments must be a JSON object.');
    const text = (argument: string) => String(args[argument] ?? '');
    switch (name) {
      case 'List Files':
        return this.#result('ok', [...this.files.keys()].join('\n'));
      case 'Read File':
        return this.#read(text('file_name'));
      case 'Inspect Script Lines':
        return this.#inspect(
          text('script_name'),
          Number(args.start_line_number),
          Number(args.end_line_number),
        );
      case 'Write File':
        if (this.task.read_only.includes(text('file_name'))) return this.#result('refused', 'Read-only.');
        this.#write(text('file_name'), text('content'));
        return this.#result('ok', 'Written.');
      case 'Copy File': {
        const content = this.files.get(text('source'));
        if (content === undefined) return this.#result('failed', 'There is no such file.');
        this.#write(text('destination'), content);
        return this.#result('ok', 'Copied.');
      }
      case 'Execute Script':
        return this.#execute(text('script_name'));
      case 'Validate Submission':
        return this.#settings.accepts?.(this.files) === false
          ? this.#result('failed', 'Not valid.')
          : this.#result('ok', 'Valid.');
      case 'Final Answer':
        this.finalAnswer = text('final_answer');
        this.#shared.ended = true;
        return this.#result('ok', 'Thank you.');
      case 'Append Summary to Research Log':
      case 'Retrieval from Research Log':
        if (this.#settings.logActions === true) return this.#result('ok', 'what the log says');
        return this.#result('invalid', `There is no action ${name}.`);
      default:
        return this.#result('invalid', `There is no action ${name}.`);
    }
  }

  #read(path: string): StepResult {
    const content = this.files.get(path);
    if (content === undefined) return this.#result('failed', 'There is no such file.');
    if (content.length <= 20_000) return this.#result('ok', content);
    const remark = this.#settings.cutRemark ?? '';
    const end = remark === '' ? '' : `\n${remark}`;
    return this.#result('ok', `${content.slice(0, 10_000)}\n[… cut …]\n${content.slice(-9_900)}${end}`);
  }

  #inspect(path: string, first: number, last: number): StepResult {
    const content = this.files.get(path);
    if (content === undefined) return this.#result('failed', 'There is no such file.');
    const show = this.#settings.showLine ?? ((line: string) => line);
    const lines = content.replace(/\n$/, '').split('\n');
    const shown = lines
      .slice(first - 1, Math.min(last, first + 99))
      .map((line, place) => show(line, first + place));
    const { heading = '', footing = '' } = this.#settings;
    if (shown.length === 0) shown.push(`There is no line ${first}.`);
    const answer = [heading, ...shown, footing];
    if (heading === '') answer.shift();
    if (footing === '') answer.pop();
    return this.#result('ok', answer.join('\n'));
  }

  #execute(path: string): StepResult {
    const source = this.files.get(path);
    if (source === undefined) return this.#result('failed', 'There is no such file.');
    const done = this.#settings.execute(source, this.files);
    this.executed.push(source);
    this.#lastScript = this.taken.length;
    const left = (this.#settings.seconds ?? 3600) - this.#shared.secondsUsed;
    const limit = Math.min(this.#settings.scriptSeconds ?? 3600, left);
    const seconds = Math.min(done.seconds, limit);
    this.#shared.secondsUsed += seconds;
    if (done.seconds > limit) return this.#result('timed_out', `[stopped after ${limit} s]`, null, seconds);
    for (const [file, content] of Object.entries(done.writes ?? {})) this.#write(file, content);
    const status = done.status ?? (done.exitCode === 0 ? 'ok' : 'failed');
    const output = `${done.output}\n[exit code ${done.exitCode}, ${seconds.toFixed(1)} s]`;
    return this.#result(status, output, done.exitCode, seconds);
  }

  #write(path: string, content: string): void {
    this.files.set(path, content);
    if (this.task.submission.files.some((file) => file.path === path)) this.#written = this.taken.length;
  }

  #submission(): SubmissionSeen {
    const present = this.task.submission.files.every(({ path }) => this.files.has(path));
    const stale = present && this.#lastScript > (this.#written ?? 0);
    return { present, written_at_step: this.#written, stale };
  }

  #result(
    status: ActionStatus,
    observation: string,
    exitCode: number | null = null,
    seconds = 0,
  ): StepResult {
    const budget = this.#budgetNow();
    if (budget.steps_left <= 0 || budget.seconds_left <= 0) this.#shared.ended = true;
    const step = this.taken.length;
    const [durationMs, submission, ended] = [seconds * 1000, this.#submission(), this.#shared.ended];
    return { step, status, observation, exitCode, durationMs, budget, submission, ended };
  }

  #budgetNow(): Budget {
    return {
      steps_left: (this.#settings.steps ?? 50) - this.taken.length,
      seconds_left: (this.#settings.seconds ?? 3600) - this.#shared.secondsUsed,
      steps_used: this.taken.length,
      seconds_used: this.#shared.secondsUsed,
      tokens_left: null,
      money_left: null,
    };
  }
}

/** A brief with what a test does not care for filled in. */
export function briefOf(given: Partial<TaskBrief>): TaskBrief {
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
