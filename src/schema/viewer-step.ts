import { z } from 'zod';
import { GradedStep } from './evaluation.ts';
import { GateVerdict, SubmissionState } from './event.ts';
import { SubmissionProblem } from './grade.ts';
import { ObjectId } from './ids.ts';
import { Budget } from './limits.ts';
import { CallFailure, FailedAttempt, ModelRole, TokenUsage } from './model.ts';
import { ShownText, StepStatus, StepWarning } from './viewer-run.ts';

/* Replies of the viewer's server about one step of a run, and about its files; see viewer-run.ts. */

const count = z.int().min(0);

/** What an agent wrote besides its action. */
export const StepEntry = z.object({
  /** Such as `Research Plan and Status`. The same name may come twice in a step. */
  name: z.string(),
  text: ShownText,
  /** The previous entry of this name, for marking changes; null for the first. */
  before: z.object({ step: count, text: ShownText }).nullable(),
});
export type StepEntry = z.infer<typeof StepEntry>;

export const StepArgument = z.object({
  name: z.string(),
  /** A text as it is, other values as JSON. */
  text: ShownText,
  is_text: z.boolean(),
});
export type StepArgument = z.infer<typeof StepArgument>;

export const StepAction = z.object({ action: z.string(), arguments: z.array(StepArgument) });
export type StepAction = z.infer<typeof StepAction>;

export const ShownToolCall = z.object({ name: z.string(), input: ShownText });
export type ShownToolCall = z.infer<typeof ShownToolCall>;

export const ShownMessage = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  /** For a tool's message. */
  name: z.string().nullable(),
  text: ShownText,
  tool_calls: z.array(ShownToolCall),
});
export type ShownMessage = z.infer<typeof ShownMessage>;

/** In an export: messages that an earlier call sent, counted from 0, and the step of that call. */
export const EarlierMessages = z.object({
  call: z.int().min(1),
  step: count,
  from: count,
  count: z.int().min(1),
});
export type EarlierMessages = z.infer<typeof EarlierMessages>;

/** A call of a language model. */
export const StepCall = z.object({
  call: z.int().min(1),
  role: ModelRole,
  purpose: z.string(),
  model: z.string(),
  answered_by: z.string().nullable(),
  temperature: z.number().nullable(),
  max_output_tokens: z.int(),
  time: z.int(),
  messages: z.array(z.union([ShownMessage, EarlierMessages])),
  /** Names of the tools in the request. */
  tools: z.array(z.string()),
  answer: z
    .object({
      kind: z.enum(['answered', 'refused', 'context_too_long']),
      /** The answer, or why there is none. */
      text: ShownText,
      tool_calls: z.array(ShownToolCall),
      finish: z.string().nullable(),
    })
    .nullable(),
  failure: z.object({ failure: CallFailure, message: z.string() }).nullable(),
  usage: TokenUsage,
  /** In US dollars; null if the price is unknown. */
  cost: z.number().min(0).nullable(),
  latency_ms: z.number().min(0),
  waiting_ms: z.number().min(0),
  attempts: z.array(FailedAttempt),
});
export type StepCall = z.infer<typeof StepCall>;

export const ShownInnerStep = z.object({
  action: z.string(),
  args: ShownText,
  observation: ShownText,
  time: z.int(),
});
export type ShownInnerStep = z.infer<typeof ShownInnerStep>;

/** `…/steps/:step`. Step 0 is the starter; `steps + 1` is what followed the last one, if anything did. */
export const StepPage = z.object({
  step: count,
  total: count,
  /** What was performed; null: no action (step 0, and the end of the run). */
  action: z.string().nullable(),
  arguments: z.array(StepArgument),
  /** What the agent wrote, if somebody replaced it; else null. */
  proposed: StepAction.nullable(),
  status: StepStatus.nullable(),
  /** Who took it in the agent's place; null: the agent. */
  actor: z.string().nullable(),
  /** The decision of the run's gate before it; null if nobody was asked. */
  decision: z
    .object({
      actor: z.string(),
      verdict: GateVerdict,
      reason: z.string().nullable(),
      /** What was wanted instead: once it is performed, it is the step's action. */
      replacement: StepAction.nullable(),
    })
    .nullable(),
  entries: z.array(StepEntry),
  /** How many entries there are besides these. */
  more_entries: count,
  calls: z.array(StepCall),
  inner: z.array(ShownInnerStep),
  /** Null while it is running. */
  observation: ShownText.nullable(),
  /**
   * The end of its scripts' output, in the order printed: only while it is running, or if it was cut off. `from`: the
   * length of the output before, to continue with live events of the kind `output`.
   */
  output: z.object({ from: count, text: z.string() }).nullable(),
  /** A language model wrote the observation, or parts of it. */
  by_model: z.boolean(),
  started: z.int().nullable(),
  duration_ms: z.number().nullable(),
  overhead_ms: z.number().nullable(),
  exit_code: z.int().nullable(),
  cpu_seconds: z.number().nullable(),
  peak_memory_bytes: z.number().nullable(),
  /** At most 100 of them. */
  changed: z.array(z.string()),
  changed_count: count,
  submission: SubmissionState.nullable(),
  budget: Budget.nullable(),
  /** The workspace after it: equal ids mean equal content. */
  snapshot: ObjectId.nullable(),
  warnings: z.array(StepWarning),
  grade: GradedStep.extend({ problems: z.array(SubmissionProblem) }).nullable(),
  /** The run was resumed before or within this step. */
  resumed: z.boolean(),
});
export type StepPage = z.infer<typeof StepPage>;

/** `…/steps/:step/files`: the workspace after the step. */
export const FileList = z.object({
  step: count,
  files: z.array(
    z.object({
      path: z.string(),
      kind: z.enum(['file', 'link', 'folder']),
      size: count.nullable(),
      /** For a file: the object to request from `/api/experiments/:experiment/objects/:object`. */
      object: ObjectId.nullable(),
      /** For a link: its target, as text. */
      target: z.string().nullable(),
      /** Compared with the step before. */
      change: z.enum(['added', 'modified']).nullable(),
    }),
  ),
  /** Paths that only the step before had. */
  removed: z.array(z.string()),
});
export type FileList = z.infer<typeof FileList>;

/**
 * `/api/experiments/:experiment/objects/:object`: a file of a snapshot, as text. `…/raw`: its bytes, to download.
 * Objects never change.
 */
export const FileText = z.object({
  object: ObjectId,
  bytes: count,
  /** Null: not UTF-8 text, or more than 4 MiB; it can be downloaded. */
  text: z.string().nullable(),
});
export type FileText = z.infer<typeof FileText>;

/** `…/steps/:step/diff?against=…`: from another step (default: the one before) to this one. */
export const StepDiff = z.object({
  step: count,
  against: count,
  /** At most 300 of them. */
  files: z.array(
    z.object({
      path: z.string(),
      kind: z.enum(['added', 'removed', 'modified']),
      as: z.enum(['text', 'binary', 'too_large', 'link', 'mode', 'folder', 'kind']),
      /** Unified, with three lines of context. */
      patch: z.string().nullable(),
      before: z.object({ object: ObjectId, size: count }).nullable(),
      after: z.object({ object: ObjectId, size: count }).nullable(),
    }),
  ),
  /** How many there are. */
  total: count,
});
export type StepDiff = z.infer<typeof StepDiff>;

/**
 * `…/search?q=…&from=…`: the texts of steps that contain it, ignoring case. Searches for about a second per request.
 */
export const SearchResult = z.object({
  query: z.string(),
  hits: z.array(
    z.object({
      step: count,
      /** Such as `action`, `argument script`, `observation`, `entry Thought`, `answer`. */
      place: z.string(),
      before: z.string(),
      match: z.string(),
      after: z.string(),
      /** How often that text contains it. */
      count: z.int().min(1),
    }),
  ),
  /** The `from` of the next request; null: everything was searched. */
  next: z.int().nullable(),
});
export type SearchResult = z.infer<typeof SearchResult>;
