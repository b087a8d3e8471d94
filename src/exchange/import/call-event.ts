import { sha256 } from '../../lib/hash.ts';
import { type EventOf, ModelName, type ModelRole, type TextRef } from '../../schema/index.ts';
import { isModelName, type OriginalCall, type OriginalStep } from '../original/original-run.ts';

/** `provider/name` of a model of the original. */
export function modelNameOf(model: string): ModelName {
  const name = model.replaceAll(/\s+/g, '-');
  return ModelName.parse(`mlagentbench/${name === '' ? 'unnamed' : name}`);
}

/** The position of a call in a run. */
export interface CallPlace {
  /** 1 for the first of the run. */
  number: number;
  /** The step whose action made the call; null for the agent itself. */
  step: number | null;
  caller: OriginalStep | undefined;
  /** Its duration in milliseconds, as far as the times of steps show it. */
  waits: number;
}

/**
 * A model call in the form of our own runs.
 * @param model of the run, if the log of the call does not name it
 */
export function callEvent(
  call: OriginalCall,
  { number, step, caller, waits }: CallPlace,
  model: string,
  textRef: (text: string) => TextRef,
): EventOf<'model_call'> {
  const role = roleOf(call, caller);
  const message = { role: 'user', text: call.prompt.toWellFormed() };
  const answer = { kind: 'answered', text: call.completion, tool_calls: [], finish: 'other' };
  return {
    kind: 'model_call',
    call: number,
    step,
    role,
    purpose: purposeOf(call, caller),
    model: modelNameOf(isModelName(call.model) ? call.model : model),
    answered_by: null,
    temperature: null,
    max_output_tokens: call.max_tokens,
    request: sha256(JSON.stringify([role, [message], [], []])),
    messages: [textRef(JSON.stringify(message))],
    tools: null,
    stop: [],
    answer: textRef(JSON.stringify(answer)),
    failure: null,
    usage: usageOf(call),
    cost: null,
    latency_ms: Math.round(waits),
    waiting_ms: 0,
    attempts: [],
  };
}

function roleOf({ role }: OriginalCall, step: OriginalStep | undefined): ModelRole {
  if (role === 'agent') return 'agent';
  return role === 'tool' && step?.action.name.startsWith('Edit Script') ? 'editor' : 'fast';
}

/** In the terms of our own agents and actions. */
function purposeOf({ role }: OriginalCall, step: OriginalStep | undefined): string {
  if (role === 'agent') return 'act';
  if (role === 'summary') return 'summarise a step';
  if (role === 'summarize_observation') return 'summarise an observation';
  return step === undefined ? 'a step that was not recorded' : step.action.name;
}

/** The original counts with one tokeniser for all models. */
function usageOf({ prompt_tokens, sampled_tokens }: OriginalCall) {
  const none = { cached_input: 0, cache_write: 0, reasoning: 0 };
  return { input: prompt_tokens, ...none, output: sampled_tokens, source: 'estimate' as const };
}
