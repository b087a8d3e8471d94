import { styleText } from 'node:util';
import { z } from 'zod';
import type { EventOf, GateVerdict, TextRef, TraceEvent } from '../schema/index.ts';
import {
  parseStoredText,
  type RunFolder,
  resolveText,
  stepsOf,
  type TakenStep,
  type TracedAction,
} from '../store/index.ts';
import { duration, plain } from './table.ts';

/** A step with its texts, and the agent's notes before it. */
export interface ShownStep {
  step: number;
  /** What was performed. */
  action: string;
  args: unknown;
  /** What the agent wrote, if somebody replaced it. */
  proposed: { action: string; args: unknown } | null;
  status: string;
  observation: string;
  duration_ms: number;
  exit_code: number | null;
  changed: string[];
  snapshot: string;
  stale: boolean;
  /** A language model wrote the observation, or parts of it. */
  by_model: boolean;
  /** Files of the workspace that are not in the snapshot: at most 20 of `not_kept_count`. */
  not_kept: string[];
  not_kept_count: number;
  notes: Record<string, string>[];
  /** After the last step. */
  notes_after: Record<string, string>[];
  /** The step in one line. */
  summary: string;
  /** Who took it instead of the agent; null: the agent. */
  actor: string | null;
  /** The decision of the run's gate right before it. */
  decision: ShownDecision | null;
}

interface ShownDecision {
  actor: string;
  verdict: GateVerdict;
  reason: string | null;
  /** What was performed instead of the agent's action. */
  replacement: { action: string; args: unknown } | null;
}

/**
 * The finished steps of one branch's history.
 * @param summaries by step
 */
export function shownSteps(
  folder: RunFolder,
  events: readonly TraceEvent[],
  summaries: ReadonlyMap<number, string>,
): ShownStep[] {
  const textOf = (ref: TextRef) => resolveText(folder.objects, ref);
  const notes = new Map<number, Record<string, string>[]>();
  let next = 1;
  for (const event of events) {
    if (event.kind === 'step_finished') next = event.step + 1;
    if (event.kind !== 'note') continue;
    const texts = Object.entries(event.entries).map(([name, ref]) => [name, textOf(ref)]);
    notes.set(next, [...(notes.get(next) ?? []), Object.fromEntries(texts)]);
  }
  return stepsOf(events).map((step, index, all) => ({
    ...shownStep(step, textOf),
    notes: notes.get(step.step) ?? [],
    notes_after: (index === all.length - 1 ? notes.get(next) : undefined) ?? [],
    summary: summaries.get(step.step) ?? '',
  }));
}

function shownStep(
  { step, started, performed, proposed, finished, decided }: TakenStep,
  textOf: (ref: TextRef) => string,
): Omit<ShownStep, 'notes' | 'notes_after' | 'summary'> {
  const { status, duration_ms, exit_code, changed, snapshot, submission } = finished;
  return {
    step,
    ...shownAction(performed, textOf),
    proposed: proposed && shownAction(proposed, textOf),
    status,
    observation: textOf(finished.observation),
    ...{ duration_ms, exit_code, changed, snapshot },
    stale: submission.stale,
    by_model: finished.by_model ?? false,
    not_kept: finished.skipped?.map(({ path, reason }) => `${path} (${reason.replaceAll('_', ' ')})`) ?? [],
    not_kept_count: finished.skipped_count ?? 0,
    actor: started.actor ?? null,
    decision: decided === null ? null : shownDecision(decided, textOf),
  };
}

function shownDecision(
  { actor, verdict, reason, replacement }: EventOf<'action_decided'>,
  textOf: (ref: TextRef) => string,
): ShownDecision {
  const instead = replacement === undefined ? null : shownAction(replacement, textOf);
  return { actor, verdict, reason: reason ?? null, replacement: instead };
}

function shownAction(
  { action, args }: TracedAction,
  textOf: (ref: TextRef) => string,
): { action: string; args: unknown } {
  return { action, args: parseStoredText(z.unknown(), textOf(args), `the arguments of ${action}`) };
}

/** Who decided on a step, and why; empty if nobody but the agent did. */
function decisionText({ actor, decision, proposed }: ShownStep): string {
  if (actor !== null) return `taken by ${plain(actor)}`;
  if (decision === null) return '';
  const { verdict, reason } = decision;
  const wanted =
    proposed === null
      ? ''
      : `; the agent wanted ${plain(proposed.action)} ${plain(JSON.stringify(proposed.args))}`;
  return `${verdictNames[verdict]} by ${plain(decision.actor)}${reason === null || reason === '' ? '' : `: ${plain(reason)}`}${wanted}`;
}

const verdictNames: Record<GateVerdict, string> = {
  allow: 'allowed',
  deny: 'denied',
  replace: 'replaced',
  take_over: 'taken over',
};

/** Goes before its summary: who decided. Empty for allowed actions, which are as the agent wanted. */
export function decisionNote(step: ShownStep): string {
  const isAsWanted = step.actor === null && (step.decision?.verdict ?? 'allow') === 'allow';
  return isAsWanted ? '' : `[${decisionText(step)}] `;
}

/** A step in full. */
export function stepText(step: ShownStep): string {
  const notes = (each: readonly Record<string, string>[]) =>
    each
      .flatMap((entries) => Object.entries(entries).map(([name, text]) => `${plain(name)}: ${plain(text)}`))
      .join('\n');
  const args = Object.entries(step.args as Record<string, unknown>).map(
    ([name, value]) => `${plain(name)}:\n${plain(typeof value === 'string' ? value : JSON.stringify(value))}`,
  );
  const part = (title: string, body: string) => (body === '' ? [] : [styleText('bold', title), body, '']);
  return [
    styleText(
      'bold',
      `Step ${step.step}: ${plain(step.action)} (${step.status}, ${duration(step.duration_ms / 1000)})`,
    ),
    '',
    ...part('Decision', decisionText(step)),
    ...part('Notes', notes(step.notes)),
    ...part('Arguments', args.join('\n')),
    ...part(
      step.by_model ? 'Observation (written by a language model)' : 'Observation',
      plain(step.observation),
    ),
    ...part('Changed', step.changed.map(plain).join('\n')),
    ...part(`Not kept in the record (${step.not_kept_count})`, step.not_kept.map(plain).join('\n')),
    ...part('Notes after the last step', notes(step.notes_after)),
  ].join('\n');
}
