import { z } from 'zod';
import { type ActionStatus, defaultLimits, type EndReason } from '../../schema/index.ts';
import { hasLostTrace, type OriginalRun, type OriginalStep } from '../original/original-run.ts';
import type { OriginalEvent } from './arrange.ts';

const shutDown = 'The environment has shut down';
/** Actions whose observation a language model writes, at least in part. */
const modelWritten: ReadonlySet<string> = new Set([
  'Understand File',
  'Reflection',
  'Retrieval from Research Log',
  'Edit Script (AI)',
  'Edit Script Segment (AI)',
]);
/** Actions that run a script: the time before their end counts as theirs. */
const executing: ReadonlySet<string> = new Set(['Execute Script', 'Python REPL']);

const mostOfMessage = 10_000;

export function isExecution({ action }: OriginalStep): boolean {
  return executing.has(action.name);
}

/** Whether a model wrote the observation. Error messages of the environment itself were not written by a model. */
export function isModelWritten({ action, observation }: OriginalStep): boolean {
  return modelWritten.has(action.name) && !/^(?:EnvError|LLMError|Invalid action)\b/.test(observation);
}

/** How a step ended, according to its observation: the original records nothing else about it. */
export function statusOf(step: OriginalStep): ActionStatus {
  const { observation } = step;
  if (observation.startsWith(shutDown)) return 'closed';
  if (/^Invalid action\b/.test(observation) || /^EnvError: The action input for /.test(observation))
    return 'invalid';
  if (/^(?:EnvError|LLMError)\b/.test(observation)) return 'failed';
  return isExecution(step) && hasPythonError(observation) ? 'failed' : 'ok';
}

/** A script that exits with an error shows Python's traceback. */
function hasPythonError(output: string): boolean {
  return /^(?:Traceback \(most recent call last\):|(?:Syntax|Indentation|Tab)Error: |.{0,200}can't open file )/m.test(
    output,
  );
}

export interface OriginalEnd {
  reason: EndReason;
  message: string;
  finalAnswer: string | null;
}

/** Why a run ended; null if it was killed, or unknown. */
export function endOf(run: OriginalRun, scenes: readonly OriginalEvent[]): OriginalEnd | null {
  const { steps, seconds, error } = run;
  const answered = steps.find(({ action }) => action.name === 'Final Answer');
  if (answered !== undefined) return { reason: 'final_answer', message: '', finalAnswer: answerOf(answered) };
  if (error !== null) {
    const message = error.slice(-mostOfMessage).trim().split('\n').at(-1) ?? '';
    const reason = /TooLongPrompt/.test(message) ? 'context_limit' : 'infrastructure_error';
    return { reason, message, finalAnswer: null };
  }
  // A truncated trace says nothing about its end.
  if (seconds === null || hasLostTrace(run.gaps)) return null;
  const last = scenes.findLast(({ kind }) => kind !== 'call');
  if (last?.kind === 'reply' && last.problem !== null)
    return { reason: 'reply_format', message: 'The model gave no usable reply.', finalAnswer: null };
  if (
    steps.length < defaultLimits.steps &&
    !steps.some(({ observation }) => observation.startsWith(shutDown))
  )
    return { reason: 'agent_stopped', message: '', finalAnswer: null };
  const reason = seconds >= defaultLimits.wall_seconds ? 'time_limit' : 'step_limit';
  return { reason, message: 'The environment had shut down.', finalAnswer: null };
}

function answerOf({ action: { args } }: OriginalStep): string {
  const known = z.object({ final_answer: z.string() }).safeParse(args);
  return known.success ? known.data.final_answer : JSON.stringify(args);
}
