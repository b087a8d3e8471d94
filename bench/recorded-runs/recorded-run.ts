import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';

const Meta = z.object({ model: z.string(), task: z.string(), run: z.union([z.string(), z.number()]) });

const Call = z.object({
  where: z.enum(['agent', 'tool']),
  role: z.enum(['agent', 'summary', 'summarize_observation', 'tool']),
  agent_step: z.int().optional(),
  env_step: z.int().optional(),
  prompt: z.string(),
  completion: z.string(),
});
type Call = z.infer<typeof Call>;

const RecordedAction = z.object({
  action: z.object({ name: z.string(), args: z.record(z.string(), z.unknown()) }),
  observation: z.string(),
});
export type RecordedAction = z.infer<typeof RecordedAction>;

const Trace = z.object({
  steps: z.array(RecordedAction),
  low_level_steps: z.array(RecordedAction),
  task_description: z.string(),
});

/** One turn of the original agent. */
export interface RecordedTurn {
  /** All replies of its model; the last one was acted on, unless it ended the run. */
  replies: string[];
  /**
   * The summaries of the observation and of the step by its fast model, in order. Turns whose calls the original logged in
   * one file share these lists.
   */
  observationSummaries: string[];
  stepSummaries: string[];
  /** What it did: perhaps a lookup in the log, perhaps an action, and the entry in the log. */
  steps: RecordedAction[];
}

/** A run of the original benchmark, as it was published. */
export interface RecordedRun {
  folder: string;
  model: string;
  task: string;
  run: string;
  problem: string;
  turns: RecordedTurn[];
  /** What models answered inside actions, by the step (from 0) that asked. */
  toolReplies: ReadonlyMap<number, readonly string[]>;
  steps: readonly RecordedAction[];
  /** Low-level steps of actions, such as reading a file. */
  innerSteps: readonly RecordedAction[];
}

export const logAction = 'Append Summary to Research Log';
export const recallAction = 'Retrieval from Research Log';
const logEntry = /^\n\nStep \d+:\n/;
/** The original's complaint to its model, at the end of a prompt, that its last reply was not usable. */
const complaint = 'response was in incorrect format';

/** Whether the agent itself wrote this into its log, and not its model by an action. */
export function isLogEntry({ action }: RecordedAction): boolean {
  return action.name === logAction && logEntry.test(String(action.args.content));
}

/** Reads the folder of one run. */
export function readRecordedRun(folder: string): RecordedRun {
  const { model, task, run } = Meta.parse(JSON.parse(readFileSync(join(folder, 'meta.json'), 'utf8')));
  const calls = unzipped(join(folder, 'calls.jsonl.gz'))
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => Call.parse(JSON.parse(line)));
  const trace = Trace.parse(JSON.parse(unzipped(join(folder, 'trace.json.gz'))));
  const toolReplies = Map.groupBy(
    calls.filter(({ where }) => where === 'tool'),
    ({ env_step }) => env_step ?? -1,
  );
  return {
    folder,
    model,
    task,
    run: String(run),
    problem: trace.task_description,
    turns: turnsOf(calls, trace.steps),
    toolReplies: new Map(
      [...toolReplies].map(([step, asked]) => [step, asked.map(({ completion }) => completion)]),
    ),
    steps: trace.steps,
    innerSteps: trace.low_level_steps,
  };
}

function turnsOf(calls: readonly Call[], steps: readonly RecordedAction[]): RecordedTurn[] {
  const turns: RecordedTurn[] = [];
  const key = ({ role, agent_step }: Pick<Call, 'role' | 'agent_step'>) => `${role} ${agent_step}`;
  const lists = new Map(
    [...Map.groupBy(calls, key)].map(([name, group]) => [name, group.map(({ completion }) => completion)]),
  );
  const summaries = (role: Call['role'], { agent_step }: Call) => lists.get(key({ role, agent_step })) ?? [];
  for (const call of calls.filter(({ role }) => role === 'agent')) {
    // A turn is repeated with a complaint at the end of the prompt.
    if (call.prompt.slice(-400).includes(complaint)) turns.at(-1)?.replies.push(call.completion);
    else {
      turns.push({
        replies: [call.completion],
        observationSummaries: summaries('summarize_observation', call),
        stepSummaries: summaries('summary', call),
        steps: [],
      });
    }
  }
  let turn = 0;
  for (const step of steps) {
    turns[turn]?.steps.push(step);
    if (isLogEntry(step)) turn += 1;
  }
  return turns;
}

function unzipped(path: string): string {
  return gunzipSync(readFileSync(path)).toString('utf8');
}
