import {
  actionDefinitions,
  type Branch,
  checkAction,
  cutMiddle,
  readAction,
  type StepResult,
} from '../environment/index.ts';
import { type Action, type ActionStatus, BranchId, type Budget, type TaskBrief } from '../schema/index.ts';
import type { FakeBranch, FakeEnvironmentSettings } from './fake-settings.ts';

const names = [
  ...['List Files', 'Read File', 'Inspect Script Lines', 'Write File', 'Append File', 'Copy File'],
  ...['Execute Script', 'Validate Submission', 'Final Answer'],
];

/** The actions that an in-memory branch performs. */
export const performed = new Map([...actionDefinitions].filter(([name]) => names.includes(name)));

/** What the branches of an in-memory run share. */
export interface FakeRun {
  settings: FakeEnvironmentSettings;
  task: TaskBrief;
  taken: Action[];
  results: StepResult[];
  executed: string[];
  finalAnswer: string | null;
  forks: number;
  secondsUsed: number;
  tokensUsed: number;
  ended: boolean;
  /** Steps that the agent asked for after the end. */
  late: number;
}

/** The workspace of a branch after a step. */
interface WorkspaceState {
  files: ReadonlyMap<string, string>;
  /** The latest step that wrote the submission. */
  written: number | null;
  /** The latest step that ran a script. */
  lastScript: number;
}

interface Outcome {
  status: ActionStatus;
  observation: string;
  exitCode?: number | null;
  seconds?: number;
}

/** One branch of an in-memory run. */
export class MemoryBranch implements FakeBranch {
  readonly id: Branch['id'];
  readonly origin: Branch['origin'];
  readonly files: Map<string, string>;
  readonly #run: FakeRun;
  /** By step; the first is the state at which the branch begins. */
  readonly #states: WorkspaceState[];
  #written: number | null;
  #lastScript: number;

  constructor(run: FakeRun, state: WorkspaceState, id = 'main', origin: Branch['origin'] = null) {
    this.#run = run;
    this.id = BranchId.parse(id);
    this.origin = origin;
    this.files = new Map(state.files);
    this.#written = state.written;
    this.#lastScript = state.lastScript;
    this.#states = [state];
  }

  async step(action: Action): Promise<StepResult> {
    const run = this.#run;
    if (run.ended) {
      run.late += 1;
      return this.#result({ status: 'closed', observation: 'The environment has shut down.' });
    }
    run.taken.push(action);
    const outcome = this.#perform(action);
    const [written, lastScript] = [this.#written, this.#lastScript];
    this.#states.push({ files: new Map(this.files), written, lastScript });
    const { steps_left, seconds_left } = budgetOf(run);
    if (steps_left <= 0 || seconds_left <= 0) run.ended = true;
    const result = this.#result(outcome);
    run.results.push(result);
    return result;
  }

  async fork(at = this.#last): Promise<MemoryBranch> {
    const state = this.#states[at - this.#first];
    if (state === undefined) throw new RangeError(`The branch ${this.id} has no step ${at}.`);
    this.#run.forks += 1;
    return new MemoryBranch(this.#run, state, `b${this.#run.forks}`, { branch: this.id, step: at });
  }

  get #first(): number {
    return this.origin?.step ?? 0;
  }

  get #last(): number {
    return this.#first + this.#states.length - 1;
  }

  #perform(action: Action): Outcome {
    const asked = readAction(action);
    const given = this.#run.settings.answer?.(asked, this.files);
    if (given !== undefined) return { status: 'ok', ...given };
    const checked = checkAction(asked, performed);
    if (!checked.ok) return { status: 'invalid', observation: checked.observation };
    const text = (argument: string) => String(checked.args[argument] ?? '');
    switch (checked.definition.name) {
      case 'List Files':
        return this.#list(text('dir_path'));
      case 'Read File':
        return this.#ofFile(text('file_name'), (content) => done(cutMiddle(content)));
      case 'Inspect Script Lines':
        return this.#ofFile(text('script_name'), (content) => inspect(content, checked.args));
      case 'Write File':
        return this.#write(text('file_name'), text('content'));
      case 'Append File':
        return this.#write(text('file_name'), `${this.files.get(text('file_name')) ?? ''}${text('content')}`);
      case 'Copy File':
        return this.#ofFile(text('source'), (content) => this.#write(text('destination'), content));
      case 'Execute Script':
        return this.#ofFile(text('script_name'), (source) => this.#execute(source));
      case 'Validate Submission':
        return this.#isSubmissionThere()
          ? done('The grader would accept this submission.')
          : { status: 'failed', observation: 'The grader would not accept this submission: it is missing.' };
      default:
        this.#run.finalAnswer = text('final_answer');
        this.#run.ended = true;
        return done('The run is over.');
    }
  }

  #list(folder: string): Outcome {
    const prefix = folder === '.' ? '' : `${folder.replace(/\/$/, '')}/`;
    const inside = [...this.files.keys()].filter((path) => path.startsWith(prefix));
    const names = inside.map((path) => /^[^/]*\/?/.exec(path.slice(prefix.length))?.[0] ?? '');
    return done(names.length === 0 ? `${folder} is empty.` : [...new Set(names)].sort().join('\n'));
  }

  #ofFile(path: string, act: (content: string) => Outcome): Outcome {
    const content = this.files.get(path);
    if (content !== undefined) return act(content);
    return { status: 'failed', observation: `${path} does not exist. List Files shows what is there.` };
  }

  #execute(source: string): Outcome {
    const { execute, scriptSeconds = 3600 } = this.#run.settings;
    const result = execute?.(source, this.files) ?? { output: '' };
    const { output, exitCode = 0, seconds: wanted = 1, writes = {} } = result;
    this.#run.executed.push(source);
    this.#lastScript = this.#last + 1;
    const limit = Math.min(scriptSeconds, budgetOf(this.#run).seconds_left);
    const seconds = Math.min(wanted, limit);
    this.#run.secondsUsed += seconds;
    if (wanted > limit) {
      return { status: 'timed_out', observation: `[stopped after ${limit} s]`, exitCode: null, seconds };
    }
    for (const [path, content] of Object.entries(writes)) this.#put(path, content);
    const status = result.status ?? (exitCode === 0 ? 'ok' : 'failed');
    const observation = `${cutMiddle(output)}\n[exit code ${exitCode}, ${seconds.toFixed(1)} s]`;
    return { status, observation, exitCode, seconds };
  }

  #write(path: string, content: string): Outcome {
    if (this.#run.task.read_only.includes(path))
      return {
        status: 'refused',
        observation: `${path} is read-only: it can be read and copied, not written.`,
      };
    this.#put(path, content);
    return done(`Wrote ${Buffer.byteLength(content)} bytes to ${path}.`);
  }

  #put(path: string, content: string): void {
    this.files.set(path, content);
    if (this.#run.task.submission.files.some((file) => file.path === path)) this.#written = this.#last + 1;
  }

  #isSubmissionThere(): boolean {
    return this.#run.task.submission.files.every(({ path }) => this.files.has(path));
  }

  #result({ status, observation, exitCode = null, seconds = 0 }: Outcome): StepResult {
    const present = this.#isSubmissionThere();
    const stale = present && this.#lastScript > (this.#written ?? 0);
    return {
      ...{ step: this.#last, status, observation, exitCode, durationMs: seconds * 1000 },
      budget: budgetOf(this.#run),
      submission: { present, written_at_step: this.#written, stale },
      ended: this.#run.ended,
    };
  }
}

export function budgetOf({ settings, taken, secondsUsed, tokensUsed }: FakeRun): Budget {
  return {
    steps_left: (settings.steps ?? 50) - taken.length,
    seconds_left: (settings.seconds ?? 3600) - secondsUsed,
    steps_used: taken.length,
    seconds_used: secondsUsed,
    tokens_left: settings.tokens === undefined ? null : Math.max(0, settings.tokens - tokensUsed),
    money_left: null,
  };
}

function done(observation: string): Outcome {
  return { status: 'ok', observation };
}

function inspect(content: string, args: Readonly<Record<string, unknown>>): Outcome {
  const [first, last] = [Number(args.start_line_number), Number(args.end_line_number)];
  const lines = content.replace(/\n$/, '').split('\n');
  const shown = lines.slice(first - 1, Math.min(last, first + 99));
  const numbered = shown.map((line, index) => `${first + index}: ${line}`);
  const length = `[${String(args.script_name)} has ${lines.length} lines]`;
  return done(`${numbered.length === 0 ? `There is no line ${first}.` : numbered.join('\n')}\n${length}`);
}
