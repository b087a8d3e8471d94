import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Gate,
  type GateDecision,
  type ProposedAction,
  type RunWaits,
  readAction,
} from '../../environment/index.ts';
import type { Decision, RunRecord } from '../../schema/index.ts';
import { decisionName, type RunFolder, readDecision } from '../../store/index.ts';

/** How often a running session looks for a decision. */
const pollMs = 250;
/** A session in which every action has waited this long ends. */
export const longestWaitMs = 1_000;

/** A gate for people who decide when they find time: their decisions are files in the run's folder. */
export function gateOnDisk(folder: RunFolder): Gate {
  return async (proposed, signal) => {
    const file = decisionOf(proposed);
    for (;;) {
      const decision = readDecision(folder, file);
      if (decision !== null) return gateDecision(decision);
      await sleep(pollMs, undefined, { signal });
    }
  };
}

/** The decisions that would let a waiting run resume. */
export function awaited({ proposed }: RunWaits): NonNullable<RunRecord['waits_for']> {
  return proposed.map((one) => {
    const { branch, step, name } = one;
    return { branch, step, action: name, decision: decisionOf(one) };
  });
}

/** Whether a run waits and nobody has decided on any of its actions. */
export function waitsStill(folder: RunFolder, record: RunRecord | null): boolean {
  const { status, waits_for: awaited = [] } = record ?? {};
  return status === 'waiting' && awaited.every(({ decision }) => readDecision(folder, decision) === null);
}

function decisionOf({ branch, step, name, args }: ProposedAction): string {
  return decisionName({ branch, step, action: name, args: readAction({ name, args }).text });
}

function gateDecision(decision: Decision): GateDecision {
  const { actor, reason } = decision;
  const said = reason === undefined ? {} : { reason };
  if (decision.verdict === 'deny') return { kind: 'deny', actor, reason: decision.reason };
  if (decision.verdict === 'allow') return { kind: 'allow', actor, ...said };
  return { kind: 'replace', actor, action: decision.replacement, ...said };
}
