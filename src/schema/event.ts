import { z } from 'zod';
import { ActionStatus } from './action.ts';
import { AgentClaims } from './agent-claims.ts';
import { BranchId, ExperimentName, ObjectId, RunId } from './ids.ts';
import { Budget, Limits } from './limits.ts';
import { CallFailure, DialectName, FailedAttempt, ModelName, ModelRole, TokenUsage } from './model.ts';
import { Time } from './time.ts';

/** A text in the trace: short ones inline, long ones as an object of the store. */
export const TextRef = z.union([
  z.object({ text: z.string() }),
  z.object({ object: ObjectId, bytes: z.int().min(0) }),
]);
export type TextRef = z.infer<typeof TextRef>;

/** A message as JSON text, or `count` messages that an earlier call of the run sent, from its `from`th on (from 0). */
export const RecordedMessage = z.union([
  TextRef,
  z.object({ call: z.int().min(1), from: z.int().min(0), count: z.int().min(1) }),
]);
export type RecordedMessage = z.infer<typeof RecordedMessage>;

export const EndReason = z.enum([
  'final_answer',
  'agent_stopped',
  'step_limit',
  'time_limit',
  /** The next call of a language model would have exceeded the run's limit. */
  'token_limit',
  'money_limit',
  /** The run has added as much to its experiment folder as it may. */
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

/** The run that another one is forked from, and its last step that both have. */
export const RunParent = z.object({ experiment: ExperimentName, run: RunId, step: z.int().min(0) });
export type RunParent = z.infer<typeof RunParent>;

/** The step that a branch was forked from: 0 is the workspace before the first. */
export const BranchOrigin = z.object({ branch: BranchId, step: z.int().min(0) });
export type BranchOrigin = z.infer<typeof BranchOrigin>;

/** One change that Undo Edit Script can take back: the file and its content before (null: it was not there). */
export const UndoEntry = z.object({ path: z.string(), before: ObjectId.nullable() });
export type UndoEntry = z.infer<typeof UndoEntry>;

/** The submission as it lay in the workspace after a step. */
export const SubmissionState = z.object({
  present: z.boolean(),
  /** Hash over the declared submission files; null while one is missing. */
  hash: ObjectId.nullable(),
  /** The last step that wrote it (content or time of change); null when none did. */
  written_at_step: z.int().nullable(),
  /** A script ran after it was last written, without writing it anew. */
  stale: z.boolean(),
});
export type SubmissionState = z.infer<typeof SubmissionState>;

/** A part of an action that the environment of another system recorded by itself. */
export const InnerStep = z.object({
  action: z.string(),
  /** The arguments as JSON text. */
  args: TextRef,
  observation: TextRef,
  /** Milliseconds since 1970. */
  time: Time,
});
export type InnerStep = z.infer<typeof InnerStep>;

/** Of which branch an event is; absent: `main`. Step numbers go on from the step that the branch was forked from. */
const branch = BranchId.optional();

/** A person or a policy that decides on actions, or acts. */
const Actor = z.string().min(1).max(200);

export const GateVerdict = z.enum(['allow', 'replace', 'deny', 'take_over']);
export type GateVerdict = z.infer<typeof GateVerdict>;

const payloads = [
  z.object({
    kind: z.literal('session_started'),
    /** 1 for the first; each resumption adds one. */
    session: z.int().min(1),
    /** Of the lease under which it wrote: whoever follows has a higher one. */
    epoch: z.int().min(1).optional(),
    versions: z.record(z.string(), z.string()),
    /** The workspace before the first step of this session. */
    snapshot: ObjectId,
    /** Where this run began as a copy of another one, up to a step. */
    parent: RunParent.optional(),
    /** Who kept the workspace within its limit in this session: a file system of that size, or looks from time to time. */
    workspace_held_by: z.enum(['kernel', 'watchdog']).optional(),
    /** How many branches took a step at the same time in this session, at most. */
    branches_at_once: z.int().min(1).optional(),
    /** Bytes of a torn last line that opening the trace cut off. */
    repaired_bytes: z.int().min(0),
    /** Of the first session: what the run may use, as its agent was told. */
    limits: Limits.optional(),
    /** Of the first session: what the agent was told to do. */
    task: z.object({ problem: TextRef, entry: z.string(), submission: z.array(z.string()) }).optional(),
    /** The seconds of budget that earlier sessions used. */
    seconds_used: z.number().min(0),
  }),
  /** The agent chose a valid action, and the run's gate is asked whether it may be performed. */
  z.object({
    kind: z.literal('action_proposed'),
    branch,
    /** The number that the step will have if it is performed next. */
    step: z.int().min(1),
    action: z.string(),
    /** The arguments as JSON text. */
    args: TextRef,
  }),
  /** What the gate decided on the action proposed last on the branch. */
  z.object({
    kind: z.literal('action_decided'),
    branch,
    step: z.int().min(1),
    verdict: GateVerdict,
    actor: Actor,
    reason: z.string().optional(),
    /** What is performed in its place. */
    replacement: z.object({ action: z.string(), args: TextRef }).optional(),
  }),
  z.object({
    kind: z.literal('step_started'),
    branch,
    step: z.int().min(1),
    /** Who took it in the agent's place; absent: the agent. */
    actor: Actor.optional(),
    action: z.string(),
    /** The arguments as JSON text. */
    args: TextRef,
  }),
  /** A piece of what a script printed, as it came. */
  z.object({ kind: z.literal('output'), branch, step: z.int().min(1), text: z.string() }),
  z.object({
    kind: z.literal('step_finished'),
    branch,
    step: z.int().min(1),
    status: ActionStatus,
    observation: TextRef,
    duration_ms: z.number(),
    exit_code: z.int().nullable(),
    snapshot: ObjectId,
    /** Paths whose content changed, at most 100 of them. */
    changed: z.array(z.string()),
    changed_count: z.int().min(0),
    undo: z.array(UndoEntry),
    /** Files whose newest undo entry this step used up. */
    undone: z.array(z.string()),
    submission: SubmissionState,
    budget: Budget,
    /** What of the workspace is not in the snapshot, at most 20 entries, and of how many; absent: nothing. */
    skipped: z.array(z.object({ path: z.string(), reason: z.string() })).optional(),
    skipped_count: z.int().min(1).optional(),
    /** What the run has added to its experiment folder until then: new objects, trace and long outputs. */
    stored_bytes: z.int().min(0).optional(),
    /** Of the step's processes; absent where there were none, or nothing measured it. */
    cpu_seconds: z.number().min(0).optional(),
    peak_memory_bytes: z.number().min(0).optional(),
    /** A language model wrote the observation, or parts of it: a number in it is no measurement. */
    by_model: z.boolean().optional(),
    /** Cost of validating, tracing and snapshotting, without the action's own work. */
    overhead_ms: z.number(),
    /** Of an imported run: what its environment recorded of the action's own doing, such as reading a file. */
    inner: z.array(InnerStep).optional(),
  }),
  /** One call of a language model, with every try that it took. */
  z.object({
    kind: z.literal('model_call'),
    /** 1 for the first of the run. */
    call: z.int().min(1),
    /** The branch of `step`. */
    branch,
    /** The step whose action asked; null where the agent itself did. */
    step: z.int().min(1).nullable(),
    /** Of the agent's own calls the how manieth it asked for, from 1; absent: answered in the order in which they were asked for. */
    asked: z.int().min(1).optional(),
    /** The seconds of the run's budget that were used then; of an agent's call, once the run has several branches. */
    seconds_used: z.number().min(0).optional(),
    role: ModelRole,
    purpose: z.string(),
    model: ModelName,
    /** What the provider calls the model that answered; null where it did not say. */
    answered_by: z.string().nullable(),
    temperature: z.number().nullable(),
    max_output_tokens: z.int(),
    /** SHA-256 over role, messages, tools and stop texts: what a replay must ask for again. */
    request: z.string().length(64),
    /** The messages. The store puts whole conversations together of them: `Conversations`. */
    messages: z.array(RecordedMessage),
    /** The tools as JSON text. */
    tools: TextRef.nullable(),
    stop: z.array(z.string()),
    /** A `ModelAnswer` as JSON text; null where none came. */
    answer: TextRef.nullable(),
    failure: z.object({ failure: CallFailure, message: z.string() }).nullable(),
    /** Of all tries, also of those that came to nothing. */
    usage: TokenUsage,
    /** In US dollars; null where the price is not known. */
    cost: z.number().min(0).nullable(),
    /** From the request that was answered until the answer was there. */
    latency_ms: z.number().min(0),
    /** Time in the queue, between tries and on failed tries: it counts against no limit. */
    waiting_ms: z.number().min(0),
    attempts: z.array(FailedAttempt),
    /** Of a program that speaks a provider's dialect: what went over the wire, of which messages, tools and answer were read. */
    wire: z
      .object({
        dialect: DialectName,
        /** What was asked for, without the query. */
        path: z.string(),
        /** What the program was answered with; null where it was gone by then. */
        status: z.int().nullable(),
        /** The body as the program sent it, in pieces: those of earlier calls' bodies are numbered as messages are. */
        request: z.array(RecordedMessage),
        /** The body as the provider sent it, without keys. */
        response: TextRef,
      })
      .optional(),
  }),
  /** What an agent thought or planned beside its actions: plain text by entry name. */
  z.object({ kind: z.literal('note'), entries: z.record(z.string(), TextRef) }),
  /** A branch begins, with the workspace as it was after a step of another one. */
  z.object({
    kind: z.literal('branch_forked'),
    branch: BranchId,
    origin: BranchOrigin,
    snapshot: ObjectId,
  }),
  /** From now on this branch is the one that is graded when the run ends. */
  z.object({ kind: z.literal('branch_selected'), branch: BranchId }),
  z.object({
    kind: z.literal('run_ended'),
    /** The selected branch, whose workspace is graded. */
    branch,
    reason: EndReason,
    message: z.string(),
    final_answer: TextRef.nullable(),
    /** The workspace as it is graded, every file read anew; null where there is none to grade. */
    snapshot: ObjectId.nullable(),
    submission: SubmissionState.nullable(),
    seconds_used: z.number().min(0),
    /** Of an agent that is a program: what its own log says. */
    claimed: AgentClaims.optional(),
    /** In which at least one language model was being asked; a part of `seconds_used`, but of a run whose clock stood still then. */
    model_seconds: z.number().min(0).optional(),
  }),
] as const;

export const EventPayload = z.discriminatedUnion('kind', payloads);
export type EventPayload = z.infer<typeof EventPayload>;

const envelope = {
  /**
   * The oldest version of this schema that knows what the event says: 2 of calls that refer to earlier ones, 3 of all that
   * names a branch, an actor or a gate's decision.
   */
  v: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  seq: z.int().min(0),
  /** Milliseconds since 1970. */
  time: Time,
  /** SHA-256 in hex of the line before, without its line break; 64 zeros before the first. */
  prev: z.string().length(64),
};

/** One line of `trace.jsonl`. */
export const TraceEvent = z.intersection(z.object(envelope), EventPayload);
export type TraceEvent = z.infer<typeof TraceEvent>;

export type EventOf<Kind extends EventPayload['kind']> = Extract<EventPayload, { kind: Kind }>;
export type TraceEventOf<Kind extends EventPayload['kind']> = TraceEvent & { kind: Kind } & EventOf<Kind>;
