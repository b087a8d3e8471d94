import {
  FakeEnvironment as Fake,
  type FakeEnvironmentSettings as FakeSettings,
} from '../../src/api/testing.ts';
import type { ModelReply, StepResult } from '../../src/environment/index.ts';
import type { Action, ActionStatus, ModelAnswer, ModelRequest, TaskBrief } from '../../src/schema/index.ts';

/** The outcome of running a script. */
export interface Execution {
  output: string;
  /** Null if a signal ended it. */
  exitCode: number | null;
  seconds: number;
  status?: ActionStatus;
  /** Files that the script wrote. */
  writes?: Record<string, string>;
}

export interface FakeEnvironmentSettings extends Omit<FakeSettings, 'replies' | 'answer' | 'execute'> {
  files: Record<string, string>;
  /** Runs a script; the files are those of the workspace. */
  execute(source: string, files: ReadonlyMap<string, string>): Execution;
  /** Whether Validate Submission accepts the files in the workspace. */
  accepts?(files: ReadonlyMap<string, string>): boolean;
  /** The language models' answer to the n-th request, counted from 1; absent: there are no models. */
  answer?(request: ModelRequest, count: number): string | ModelReply | undefined;
  /**
   * Whether it has the actions for the research log: one accepts everything, the other always returns the same text.
   */
  logActions?: boolean;
  /** Results of an earlier run, which are returned again before anything is run. */
  recorded?: readonly StepResult[];
  /** How Inspect Script Lines shows a line. */
  showLine?(line: string, number: number): string;
  /** The last line of Read File's answer for a file that it truncates; empty for none. */
  cutRemark?: string;
  /** The first line of Inspect Script Lines' answer; empty for none. */
  heading?: string;
  /** Its last line; empty for none. */
  footing?: string;
}

/**
 * The fake that the package exports, which also shows files as other harnesses do, and returns recorded results and any
 * reply.
 */
export class FakeEnvironment extends Fake {
  readonly #settings: FakeEnvironmentSettings;

  constructor(settings: FakeEnvironmentSettings) {
    const { answer: _, actions = [], ...rest } = settings;
    super({ ...rest, actions, answer: (action, files) => ownAnswer(settings, action, files) });
    this.#settings = settings;
  }

  override step(action: Action): Promise<StepResult> {
    const recorded = this.#settings.recorded?.[this.taken.length];
    if (recorded === undefined) return super.step(action);
    this.taken.push(action);
    this.results.push(recorded);
    return Promise.resolve(recorded);
  }

  override async ask(request: ModelRequest): Promise<ModelReply> {
    if (this.isOver) return { kind: 'closed', message: 'The run is over.' };
    this.asked.push(request);
    const answer = this.#settings.answer?.(request, this.asked.length);
    if (answer === undefined) throw new Error('this environment has no language model');
    const text: ModelAnswer = { kind: 'answered', text: '', tool_calls: [], finish: 'stop' };
    return typeof answer === 'string' ? { ...text, text: answer } : answer;
  }
}

/** Its answer if it differs from the exported fake's; undefined: it does not. */
function ownAnswer(
  settings: FakeEnvironmentSettings,
  { name, args }: Action,
  files: ReadonlyMap<string, string>,
): { status?: ActionStatus; observation: string } | undefined {
  const content = files.get(String(args.file_name ?? args.script_name ?? ''));
  const { cutRemark, showLine, heading = '', footing = '', logActions, accepts } = settings;
  if (name === 'Validate Submission')
    return accepts?.(files) === false
      ? { status: 'failed', observation: 'Not valid.' }
      : { observation: 'Valid.' };
  if (logActions === true && /Research Log$/.test(name)) return { observation: 'what the log says' };
  if (name === 'Read File' && cutRemark !== undefined && content !== undefined && content.length > 20_000)
    return { observation: `${content.slice(0, 10_000)}\n[… cut …]\n${content.slice(-9_900)}\n${cutRemark}` };
  if (name !== 'Inspect Script Lines' || showLine === undefined || content === undefined) return undefined;
  const first = Number(args.start_line_number);
  const lines = content.replace(/\n$/, '').split('\n');
  const shown = lines
    .slice(first - 1, Math.min(Number(args.end_line_number), first + 99))
    .map((line, place) => showLine(line, first + place));
  if (shown.length === 0) shown.push(`There is no line ${first}.`);
  const around = (text: string) => (text === '' ? [] : [text]);
  return { observation: [...around(heading), ...shown, ...around(footing)].join('\n') };
}

/** A brief with defaults for the fields that a test does not care about. */
export function briefOf(given: Partial<TaskBrief>): TaskBrief {
  return new Fake({ task: given }).task;
}
