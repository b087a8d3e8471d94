import type { Action, BranchId, EventOf } from '../schema/index.ts';
import { type ActionOutcome, type Checked, checkAction } from './action.ts';
import type { StepResult } from './environment.ts';
import type { Gate, GateDecision } from './gate.ts';
import { type RequestedAction, readAction } from './requested-action.ts';
import type { RunParts } from './run-parts.ts';
import type { Waited } from './waiting-time.ts';

const maxShownCharacters = 2_000;

/** A step to take: what the agent, or a person in its place, asked for, and what will be done. */
export interface StepToTake {
  action: RequestedAction;
  /** Null: the agent. */
  actor: string | null;
  perform: (checked: Checked) => Promise<ActionOutcome>;
}

interface StepOnBranch {
  branch: BranchId;
  nextStep: () => number;
}

/** The branch on which an action waits for a decision. */
export interface GatedBranch extends StepOnBranch {
  /** Called for the wait for a decision. */
  waited: Waited;
  /** Takes a step in the agent's place. */
  take: (step: StepToTake) => Promise<StepResult>;
}

/** A decision in the form in which it is executed; the steps of a person who took over have been taken already. */
type GateOutcome =
  | { kind: 'allow' }
  | { kind: 'replace'; by: string; action: RequestedAction }
  | { kind: 'not_performed'; message: string };

/**
 * Asks the run's gate about an agent's action, and returns the step to take. Both the question and the decision are
 * traced: if the run is killed meanwhile, it resumes with the decision, or asks the gate again.
 */
export async function passGate(
  asked: StepToTake,
  gate: Gate,
  run: RunParts,
  branch: GatedBranch,
): Promise<StepToTake> {
  const verdict = decidedBefore(asked.action, run, branch) ?? (await decide(asked, gate, run, branch));
  switch (verdict.kind) {
    case 'allow':
      return asked;
    case 'not_performed': {
      const outcome: ActionOutcome = { status: 'refused', observation: verdict.message };
      return { ...asked, perform: async () => outcome };
    }
    case 'replace': {
      const { action, by } = verdict;
      const notice = `[${by} replaced your action. This was performed: ${action.name} ${action.text}]\n`;
      return {
        ...asked,
        perform: async () => {
          const outcome = await asked.perform(checkAction(action, run.definitions));
          return { ...outcome, observation: notice + outcome.observation };
        },
      };
    }
  }
}

/** A decision made before the run was killed. A person who had taken over is asked again. */
function decidedBefore(
  action: RequestedAction,
  { decisions }: RunParts,
  branch: GatedBranch,
): GateOutcome | null {
  const index = decisions.findIndex((one) => one.branch === branch.branch);
  const [pending] = index < 0 ? [] : decisions.splice(index, 1);
  const isSame =
    pending?.step === branch.nextStep() && pending.action === action.name && pending.args === action.text;
  if (!isSame) return null;
  const { verdict, actor, reason = '' } = pending.decided;
  if (verdict === 'allow') return { kind: 'allow' };
  if (verdict === 'deny') return { kind: 'not_performed', message: denied(actor, reason) };
  if (verdict === 'replace' && pending.replacement !== null)
    return { kind: 'replace', by: actor, action: readAction(pending.replacement) };
  return null;
}

async function decide(
  { action, perform }: StepToTake,
  gate: Gate,
  run: RunParts,
  branch: GatedBranch,
): Promise<GateOutcome> {
  const decision = await waitFor(branch, () => askGate(action, gate, run, branch));
  if (decision.kind === 'replace') {
    return { kind: 'replace', by: decision.actor, action: readAction(decision.action) };
  }
  if (decision.kind === 'deny') {
    return { kind: 'not_performed', message: denied(decision.actor, decision.reason) };
  }
  if (decision.kind !== 'take_over') return { kind: 'allow' };
  return await takenOver(decision, perform, run, branch);
}

/**
 * Asks the gate about a program's request for permission.
 * @param over aborted when the program has ended
 */
export async function askPermission(
  action: RequestedAction,
  gate: Gate,
  run: RunParts,
  branch: StepOnBranch,
  over: AbortSignal,
): Promise<GateDecision> {
  const asked: Gate = (proposed, signal) =>
    gate({ ...proposed, isPermission: true, obstacleTo: () => null }, AbortSignal.any([signal, over]));
  return await askGate(action, asked, run, branch);
}

/** Traces the question and the gate's decision. */
async function askGate(
  action: RequestedAction,
  gate: Gate,
  run: RunParts,
  branch: StepOnBranch,
): Promise<GateDecision> {
  const { trace, signal, gateWaits } = run;
  const step = branch.nextStep();
  trace.append({
    kind: 'action_proposed',
    ...placeOf(branch),
    action: action.name,
    args: trace.textRef(action.text),
  });
  const obstacleTo = (instead: Action) => {
    const checked = checkAction(readAction(instead), run.definitions);
    return checked.ok ? null : checked.observation;
  };
  const proposed = { branch: branch.branch, step, name: action.name, args: action.args, obstacleTo };
  const decision = await gateWaits.during(proposed, (over) =>
    gate(proposed, AbortSignal.any([signal, over])),
  );
  record(decision, run, branch);
  return decision;
}

/**
 * Takes the steps of a person who has taken over, until they hand back. Their final answer is given as the agent's
 * step.
 */
async function takenOver(
  { actor, next }: Extract<GateDecision, { kind: 'take_over' }>,
  perform: StepToTake['perform'],
  run: RunParts,
  branch: GatedBranch,
): Promise<GateOutcome> {
  const { signal, state } = run;
  const stepTexts: string[] = [];
  for (let last: StepResult | null = null; state.ending === null; ) {
    const wanted = await waitFor(branch, () => next(last, signal));
    if (wanted === null) break;
    const action = readAction(wanted);
    if (action.name === 'Final Answer') {
      record({ kind: 'replace', actor, action }, run, branch);
      return { kind: 'replace', by: actor, action };
    }
    last = await branch.take({ action, actor, perform });
    stepTexts.push(
      `Step ${last.step}: ${action.name} ${action.text}\n${last.observation.slice(0, maxShownCharacters)}`,
    );
  }
  const summary = stepTexts.length === 0 ? 'They did nothing.' : `They did this:\n${stepTexts.join('\n')}`;
  const message = `Your action was not performed: ${actor} took over, and has handed back to you. ${summary}`;
  return { kind: 'not_performed', message };
}

function denied(actor: string, reason: string): string {
  return `Your action was not performed: ${actor} denied it. ${reason}`.trimEnd();
}

function record(decision: GateDecision, { trace }: RunParts, branch: StepOnBranch): void {
  const replacement = decision.kind === 'replace' ? readAction(decision.action) : null;
  const event: EventOf<'action_decided'> = {
    kind: 'action_decided',
    ...placeOf(branch),
    verdict: decision.kind,
    actor: decision.actor,
    ...(decision.reason === undefined ? {} : { reason: decision.reason }),
    ...(replacement === null
      ? {}
      : { replacement: { action: replacement.name, args: trace.textRef(replacement.text) } }),
  };
  trace.append(event);
}

function placeOf({ branch, nextStep }: StepOnBranch): { branch?: BranchId; step: number } {
  return { ...(branch === 'main' ? {} : { branch }), step: nextStep() };
}

async function waitFor<Result>({ waited }: GatedBranch, work: () => Promise<Result>): Promise<Result> {
  const working = work();
  waited(working);
  return await working;
}
