import { z } from 'zod';
import { ActionStatus } from './action.ts';
import { AgentClaims } from './agent-claims.ts';
import { BranchId, ExperimentName, ObjectId, RunId } from './ids.ts';
import { Budget, Limits } from './limits.ts';
import { CallFailure, DialectName, FailedAttempt, ModelName, ModelRole, TokenUsage } from './model.ts';
import { Time } from './time.ts';

export const TextRef = z
  .union([
    z.object({ text: z.string() }),
    z.object({ object: ObjectId, bytes: z.int().min(0).describe('length of the text in bytes') }),
  ])
  .meta({ id: 'TextRef', description: 'A text: short ones inline, long ones as an object of the store.' });
export type TextRef = z.infer<typeof TextRef>;

export const RecordedMessage = z
  .union([
    TextRef,
    z.object({
      call: z.int().min(1).describe('number of the earlier call'),
      from: z.int().min(0).describe('its first message that is meant, from 0'),
      count: z.int().min(1).describe('number of messages'),
    }),
  ])
  .meta({
    id: 'RecordedMessage',
    description: 'A message as JSON text, or a range of messages that an earlier call of the run sent.',
  });
export type RecordedMessage = z.infer<typeof RecordedMessage>;

/** The entry of a note: what an agent's process printed, if no step shows it. */
export const programOutput = 'Program output';

export const EndReason = z.enum([
  'final_answer',
  'agent_stopped',
  'step_limit',
  'time_limit',
  /** The next call of a language model would have exceeded the run's limit. */
  'token_limit',
  'money_limit',
  /** The run has reached its limit of stored bytes. */
  'storage_limit',
  /** The conversation became too long for the agent's model, and the agent could not shorten it. */
  'context_limit',
  /** The agent's model did not follow the reply format, or declined to go on. */
  'reply_format',
  'refused',
  'agent_error',
  'infrastructure_error',
]);
export type EndReason = z.infer<typeof EndReason>;

/** The run from which another one is forked, and the last step that both have. */
export const RunParent = z.object({ experiment: ExperimentName, run: RunId, step: z.int().min(0) });
export type RunParent = z.infer<typeof RunParent>;

export const BranchOrigin = z.object({
  branch: BranchId,
  step: z.int().min(0).describe('0 is the workspace before the first step'),
});
export type BranchOrigin = z.infer<typeof BranchOrigin>;

/** One change that Undo Edit Script can revert. */
export const UndoEntry = z.object({
  path: z.string(),
  before: ObjectId.nullable().describe('content before the step; null: the file did not exist'),
});
export type UndoEntry = z.infer<typeof UndoEntry>;

export const SubmissionState = z
  .object({
    present: z.boolean().describe('all declared files exist'),
    hash: ObjectId.nullable().describe('hash of the declared files; null while one is missing'),
    written_at_step: z
      .int()
      .nullable()
      .describe('the last step that wrote it (content or time of change); null if none did'),
    stale: z.boolean().describe('a script ran after it was last written, without rewriting it'),
  })
  .meta({ id: 'SubmissionState', description: 'The submission as it was in the workspace after a step.' });
export type SubmissionState = z.infer<typeof SubmissionState>;

/** A part of an action that another system's environment recorded separately. */
export const InnerStep = z.object({
  action: z.string(),
  args: TextRef.describe('the arguments as JSON text'),
  observation: TextRef,
  time: Time.describe('milliseconds since 1970'),
});
export type InnerStep = z.infer<typeof InnerStep>;

const branch = BranchId.optional().describe('branch of the event; default: main');
const step = z.int().min(1).describe('number of the step; a branch continues the numbers of its origin');
const args = TextRef.describe('the arguments as JSON text');

/** A person or a policy that decides on actions, or acts. */
const Actor = z.string().min(1).max(200);

export const GateVerdict = z.enum(['allow', 'replace', 'deny', 'take_over']);
export type GateVerdict = z.infer<typeof GateVerdict>;

const skippedEntries = {
  skipped: z
    .array(z.object({ path: z.string(), reason: z.string() }))
    .optional()
    .describe('what of the workspace is not in the snapshot, at most 20 entries; absent: nothing'),
  skipped_count: z.int().min(1).optional().describe('number of entries that were skipped'),
};

const payloads = [
  z
    .object({
      kind: z.literal('session_started'),
      session: z.int().min(1).describe('1 for the first; each resumption adds one'),
      epoch: z
        .int()
        .min(1)
        .optional()
        .describe('epoch of the lease under which the session writes; each new owner has a higher one'),
      versions: z.record(z.string(), z.string()).describe('versions of mlab, Node and others'),
      snapshot: ObjectId.describe('the workspace before the first step of this session'),
      parent: RunParent.optional().describe('the run and step that this run was copied from'),
      workspace_held_by: z
        .enum(['kernel', 'watchdog'])
        .optional()
        .describe('what keeps the workspace within its limit: a file system of that size, or regular checks'),
      branches_at_once: z
        .int()
        .min(1)
        .optional()
        .describe('maximum number of branches that took a step at the same time in this session'),
      repaired_bytes: z.int().min(0).describe('bytes of a torn last line that were cut off on opening'),
      limits: Limits.optional().describe('in the first session: what the run may use, as its agent was told'),
      task: z
        .object({ problem: TextRef, entry: z.string(), submission: z.array(z.string()) })
        .optional()
        .describe('in the first session: what the agent was told to do'),
      seconds_used: z.number().min(0).describe('seconds of budget that earlier sessions used'),
    })
    .describe('A process begins to work on the run: the first one, or one that resumes it.'),
  z
    .object({
      kind: z.literal('action_proposed'),
      branch,
      step: z.int().min(1).describe('the number that the step will have if it is performed next'),
      action: z.string(),
      args,
    })
    .describe(
      'The agent chose a valid action, and the gate of the run is asked whether it may be performed.',
    ),
  z
    .object({
      kind: z.literal('action_decided'),
      branch,
      step,
      verdict: GateVerdict,
      actor: Actor.describe('who decided'),
      reason: z.string().optional(),
      replacement: z
        .object({ action: z.string(), args: TextRef })
        .optional()
        .describe('what is performed instead'),
    })
    .describe('The decision of the gate on the action that was last proposed on the branch.'),
  z
    .object({
      kind: z.literal('step_started'),
      branch,
      step,
      actor: Actor.optional().describe("who took the step in the agent's place; default: the agent"),
      action: z.string(),
      args,
    })
    .describe('An action is about to be performed.'),
  z
    .object({ kind: z.literal('output'), branch, step, text: z.string() })
    .describe('A piece of what a script printed, as it arrived.'),
  z
    .object({
      kind: z.literal('step_finished'),
      branch,
      step,
      status: ActionStatus,
      observation: TextRef.describe('what the agent was answered'),
      duration_ms: z.number(),
      exit_code: z.int().nullable(),
      snapshot: ObjectId.describe('the workspace after the step'),
      changed: z.array(z.string()).describe('paths whose content changed, at most 100'),
      changed_count: z.int().min(0),
      undo: z.array(UndoEntry).describe('what the step overwrote'),
      undone: z.array(z.string()).describe('files whose newest undo entry this step used'),
      submission: SubmissionState,
      budget: Budget.describe("what is left of the run's limits"),
      ...skippedEntries,
      stored_bytes: z
        .int()
        .min(0)
        .optional()
        .describe('what the run has added to its experiment folder: new objects, trace and long outputs'),
      cpu_seconds: z
        .number()
        .min(0)
        .optional()
        .describe(
          "processor time of the step's processes; absent if there were none, or it was not measured",
        ),
      peak_memory_bytes: z.number().min(0).optional().describe('peak memory of these processes'),
      by_model: z
        .boolean()
        .optional()
        .describe(
          'a language model wrote the observation or parts of it: a number in it is not a measurement',
        ),
      overhead_ms: z
        .number()
        .describe("cost of validating, tracing and snapshotting, without the action's own work"),
      inner: z
        .array(InnerStep)
        .optional()
        .describe(
          'in an imported run: what its environment recorded inside the action, such as reading a file',
        ),
    })
    .describe('The result of a step. The step counts once this event is there.'),
  z
    .object({
      kind: z.literal('model_call'),
      call: z.int().min(1).describe('1 for the first of the run'),
      branch,
      step: z.int().min(1).nullable().describe('the step whose action made the call; null: the agent itself'),
      asked: z
        .int()
        .min(1)
        .optional()
        .describe("position among the agent's own calls, from 1; absent: answered in the order of the calls"),
      seconds_used: z
        .number()
        .min(0)
        .optional()
        .describe(
          "of the agent's own calls: seconds of the run's budget used when it was answered or failed",
        ),
      role: ModelRole,
      purpose: z.string().describe('what the call is for, in a few words for readers'),
      model: ModelName,
      answered_by: z
        .string()
        .nullable()
        .describe("the provider's name for the model that answered; null if it gave none"),
      temperature: z.number().nullable(),
      max_output_tokens: z.int(),
      request: z
        .string()
        .length(64)
        .describe('SHA-256 over role, messages, tools and stop texts: a replay must make the same request'),
      messages: z
        .array(RecordedMessage)
        .describe('the messages; `Conversations` in src/store reassembles whole conversations'),
      tools: TextRef.nullable().describe('the tools as JSON text'),
      stop: z.array(z.string()).describe('texts that end the reply'),
      answer: TextRef.nullable().describe('the reply as JSON text (`ModelAnswer`); null if there was none'),
      failure: z
        .object({ failure: CallFailure, message: z.string() })
        .nullable()
        .describe('why there was no reply'),
      usage: TokenUsage.describe('tokens of all attempts, including failed ones'),
      cost: z.number().min(0).nullable().describe('in US dollars; null if the price is not known'),
      latency_ms: z.number().min(0).describe('from the request that was answered until the reply was there'),
      waiting_ms: z
        .number()
        .min(0)
        .describe('time in the queue, between attempts and on failed attempts: it counts against no limit'),
      attempts: z.array(FailedAttempt).describe('the failed attempts'),
      wire: z
        .object({
          dialect: DialectName,
          path: z.string().describe('path of the request, without the query'),
          status: z
            .int()
            .nullable()
            .describe('HTTP status that the program was answered with; null if it was gone by then'),
          request: z
            .array(RecordedMessage)
            .describe(
              'the body as the program sent it, in pieces: those of earlier bodies are referred to like messages',
            ),
          response: TextRef.describe('the body as the provider sent it, without keys'),
        })
        .optional()
        .describe("of a program that speaks a provider's dialect: the raw HTTP exchange"),
    })
    .describe('One call of a language model, with all its attempts.'),
  z
    .object({ kind: z.literal('note'), entries: z.record(z.string(), TextRef) })
    .describe('What an agent thought or planned beside its actions: plain text by entry name.'),
  z
    .object({
      kind: z.literal('branch_forked'),
      branch: BranchId,
      origin: BranchOrigin.describe('the step that it was forked from'),
      snapshot: ObjectId.describe('the workspace after that step'),
    })
    .describe('A branch begins, with the workspace as it was after a step of another one.'),
  z
    .object({ kind: z.literal('branch_selected'), branch: BranchId })
    .describe('From now on, this branch is the one that is graded when the run ends.'),
  z
    .object({
      kind: z.literal('run_ended'),
      branch: BranchId.optional().describe('the selected branch, whose workspace is graded; default: main'),
      reason: EndReason,
      message: z.string(),
      final_answer: TextRef.nullable(),
      snapshot: ObjectId.nullable().describe(
        'the workspace as it is graded, every file read again; null if there is none to grade',
      ),
      submission: SubmissionState.nullable(),
      ...skippedEntries,
      seconds_used: z.number().min(0),
      claimed: AgentClaims.optional().describe('of an outside agent: what its own log says'),
      model_seconds: z
        .number()
        .min(0)
        .optional()
        .describe(
          'seconds with at least one model call in progress; part of `seconds_used`, unless the clock stopped then',
        ),
    })
    .describe('The run has ended.'),
] as const;

export const EventPayload = z.discriminatedUnion('kind', payloads);
export type EventPayload = z.infer<typeof EventPayload>;

const envelope = {
  v: z
    .union([z.literal(1), z.literal(2), z.literal(3)])
    .describe(
      "the oldest version of the format that knows the event: 2 for calls that refer to earlier ones, 3 if a branch, an actor or a gate's decision is named",
    ),
  seq: z.int().min(0).describe('0, 1, 2, …'),
  time: Time.describe('milliseconds since 1970'),
  prev: z
    .string()
    .length(64)
    .describe('SHA-256 in hex of the line before, without its line break; 64 zeros before the first'),
};

/** One line of `trace.jsonl`. */
export const TraceEvent = z.intersection(z.object(envelope), EventPayload);
export type TraceEvent = z.infer<typeof TraceEvent>;

export type EventOf<Kind extends EventPayload['kind']> = Extract<EventPayload, { kind: Kind }>;
export type TraceEventOf<Kind extends EventPayload['kind']> = TraceEvent & { kind: Kind } & EventOf<Kind>;
