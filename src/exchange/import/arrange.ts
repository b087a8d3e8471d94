import {
  isOwnRecall,
  type OriginalCall,
  type OriginalRun,
  type OriginalStep,
  ownLogEntry,
} from '../original/original-run.ts';
import { replyParts } from './reply-entries.ts';

/** The events of a run, in order. Steps are counted from 0, as in the original. */
export type OriginalEvent =
  | { kind: 'call'; call: OriginalCall }
  /** What a reply said beside its action; `problem`: why the original could not act on it. */
  | { kind: 'reply'; entries: Record<string, string>; problem: string | null }
  | { kind: 'step'; index: number; step: OriginalStep; calls: OriginalCall[] };

/** The original's agent called its model until the reply was usable, with what followed from it. */
interface Turn {
  /** By the agent's own count; a turn without result may share its number with the next. */
  number: number;
  replies: OriginalCall[];
  /** The action in its last reply; parsed on demand. */
  action?: string | null;
  /** Calls that summarise its observation, and the step as a whole. */
  summaries: { observation: OriginalCall[]; step: OriginalCall[] };
}

/** The original's complaint, at the end of a prompt, that the last reply was not usable. */
const complaint = 'response was in incorrect format';

/**
 * Places model calls between the steps. The original's logs have no times of calls: if the agent kept its research log,
 * the numbers in it connect the two; otherwise the names of the actions do.
 */
export function arrange({ steps, calls }: Pick<OriginalRun, 'steps' | 'calls'>): OriginalEvent[] {
  const turns = new Turns(turnsOf(calls));
  const tools = Map.groupBy(
    calls.filter(({ role }) => role === 'tool'),
    ({ env_step }) => env_step ?? -1,
  );
  const sceneOf = (index: number): OriginalEvent[] => {
    const step = steps[index];
    return step === undefined ? [] : [{ kind: 'step', index, step, calls: tools.get(index) ?? [] }];
  };
  const groups = steps.some((step) => ownLogEntry(step) !== null) ? logGroups(steps) : singleSteps(steps);
  const scenes = groups.flatMap(({ recall, actions, log, number, action }): OriginalEvent[] => {
    const taken = action === undefined ? turns.byNumber(number) : turns.byAction(action);
    const last = taken.at(-1);
    return [
      ...recall.flatMap(sceneOf),
      ...taken.flatMap((turn) => saidIn(turn, turn === last && actions.length > 0)),
      ...actions.flatMap(sceneOf),
      ...(last === undefined ? [] : [...last.summaries.observation, ...last.summaries.step]).map(sceneOfCall),
      ...log.flatMap(sceneOf),
    ];
  });
  const unfinished = [...tools].flatMap(([index, asked]) => (steps[index] === undefined ? asked : []));
  return [...scenes, ...turns.rest().flatMap((turn) => remainder(turn)), ...unfinished.map(sceneOfCall)];
}

/** Indexes of the steps that belong to one turn. */
interface StepGroup {
  recall: number[];
  actions: number[];
  log: number[];
  /** The agent's number of the turn; null if it is not recorded. */
  number: number | null;
  /** Without a log: the action that the turn must have chosen. */
  action?: OriginalStep['action'];
}

/** A turn ends with the agent's entry in its log. */
function logGroups(steps: readonly OriginalStep[]): StepGroup[] {
  const groups: StepGroup[] = [];
  let group: StepGroup = { recall: [], actions: [], log: [], number: null };
  for (const [index, step] of steps.entries()) {
    const number = ownLogEntry(step);
    const isFirst = group.recall.length === 0 && group.actions.length === 0;
    if (number !== null) {
      groups.push({ ...group, log: [index], number });
      group = { recall: [], actions: [], log: [], number: null };
    } else if (isFirst && isOwnRecall(step)) group.recall.push(index);
    else group.actions.push(index);
  }
  return group.recall.length + group.actions.length === 0 ? groups : [...groups, group];
}

function singleSteps(steps: readonly OriginalStep[]): StepGroup[] {
  return steps.map(({ action }, index) => ({
    ...{ recall: [], actions: [index], log: [], number: null, action },
  }));
}

/** The turns of a run, each of which is used once. */
class Turns {
  #left: Turn[];

  constructor(turns: readonly Turn[]) {
    this.#left = [...turns];
  }

  /** @param number null: the next one */
  byNumber(number: number | null): Turn[] {
    const at = this.#left.slice(0, mostAhead).findIndex((turn) => number === null || turn.number === number);
    return at < 0 ? [] : this.#left.splice(at, 1);
  }

  /** The next turn that chose this action, with the turns before it that led to no step. */
  byAction({ name, args }: OriginalStep['action']): Turn[] {
    const near = this.#left.slice(0, mostAhead);
    const named = near.map((turn) => actionOf(turn) === name);
    const at = near.findIndex((turn, index) => named[index] && holds(lastReply(turn), args));
    const chosen = at < 0 ? named.indexOf(true) : at;
    return chosen < 0 ? [] : this.#left.splice(0, chosen + 1);
  }

  rest(): Turn[] {
    return this.#left.splice(0);
  }
}

/** No run has so many consecutive turns without a step. */
const mostAhead = 200;

function actionOf(turn: Turn): string | null {
  turn.action ??= replyParts(lastReply(turn)).action;
  return turn.action;
}

/** Whether a reply contains every text among the arguments, as JSON or literally. */
function holds(reply: string, args: OriginalStep['action']['args']): boolean {
  const texts = Object.values(args ?? {}).filter((value) => typeof value === 'string');
  return texts.every((text) => reply.includes(text) || reply.includes(JSON.stringify(text).slice(1, -1)));
}

function turnsOf(calls: readonly OriginalCall[]): Turn[] {
  const turns: Turn[] = [];
  for (const call of calls) {
    if (call.role !== 'agent') continue;
    // A turn is repeated with a complaint at the end of the prompt.
    const again = turns.at(-1);
    if (again !== undefined && call.prompt.slice(-400).includes(complaint)) again.replies.push(call);
    else
      turns.push({
        number: call.agent_step ?? 0,
        replies: [call],
        summaries: { observation: [], step: [] },
      });
  }
  shareSummaries(calls, turns);
  return turns;
}

/** Turns with the same number have their summaries in the same file: one each, and the last one gets the rest. */
function shareSummaries(calls: readonly OriginalCall[], turns: readonly Turn[]): void {
  const byPlace = Map.groupBy(calls, ({ role, agent_step }) => `${role} ${agent_step ?? 0}`);
  for (const [number, sharing] of Map.groupBy(turns, (turn) => turn.number)) {
    for (const [role, kind] of [
      ['summarize_observation', 'observation'],
      ['summary', 'step'],
    ] as const) {
      const of = byPlace.get(`${role} ${number}`) ?? [];
      for (const [index, turn] of sharing.entries()) {
        const isLast = index === sharing.length - 1;
        turn.summaries[kind].push(...(isLast ? of.slice(index) : of.slice(index, index + 1)));
      }
    }
  }
}

/** @param acted whether the last of its replies led to a step */
function saidIn({ replies }: Turn, acted: boolean): OriginalEvent[] {
  return replies.flatMap((call, index): OriginalEvent[] => {
    const isActed = acted && index === replies.length - 1;
    const { entries, missing } = replyParts(call.completion);
    const problem =
      missing.length > 0
        ? `The reply lacks ${missing.join(', ')}.`
        : index < replies.length - 1
          ? 'The reply names no known action.'
          : 'The action input could not be read.';
    return [sceneOfCall(call), { kind: 'reply', entries, problem: isActed ? null : problem }];
  });
}

/** A turn without a step: its replies were all rejected, or the run ended before anything was done. */
function remainder(turn: Turn): OriginalEvent[] {
  const { action, missing } = replyParts(lastReply(turn));
  const wasUsable = action !== null && missing.length === 0;
  const { observation, step } = turn.summaries;
  return [...saidIn(turn, wasUsable), ...[...observation, ...step].map(sceneOfCall)];
}

function lastReply({ replies }: Turn): string {
  return replies.at(-1)?.completion ?? '';
}

function sceneOfCall(call: OriginalCall): OriginalEvent {
  return { kind: 'call', call };
}
