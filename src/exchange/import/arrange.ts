import {
  isOwnRecall,
  type OriginalCall,
  type OriginalRun,
  type OriginalStep,
  ownLogEntry,
} from '../original/original-run.ts';
import { replyParts } from './reply-entries.ts';

/** What happened in a run, in its order. Steps are counted from 0, as the original does. */
export type Scene =
  | { kind: 'call'; call: OriginalCall }
  /** What a reply said beside its action; `problem`: why the original could not act on it. */
  | { kind: 'reply'; entries: Record<string, string>; problem: string | null }
  | { kind: 'step'; index: number; step: OriginalStep; calls: OriginalCall[] };

/** The original's agent asked its model, until the reply could be used, and what followed from it. */
interface Turn {
  /** As the agent counts its steps; one that came to nothing may share its number with the next. */
  number: number;
  replies: OriginalCall[];
  /** The action that its last reply names; read when it is asked for. */
  action?: string | null;
  /** Calls that summarise its observation, and the step as a whole. */
  summaries: { observation: OriginalCall[]; step: OriginalCall[] };
}

/** How the original told its model, at the end of a prompt, that its last reply was not usable. */
const complaint = 'response was in incorrect format';

/**
 * Puts model calls between the steps. Logs of the original hold no times of calls: where the agent kept its research log,
 * the numbers in it bind the two together; else the names of the actions do.
 */
export function arrange({ steps, calls }: Pick<OriginalRun, 'steps' | 'calls'>): Scene[] {
  const turns = new Turns(turnsOf(calls));
  const tools = Map.groupBy(
    calls.filter(({ role }) => role === 'tool'),
    ({ env_step }) => env_step ?? -1,
  );
  const sceneOf = (index: number): Scene[] => {
    const step = steps[index];
    return step === undefined ? [] : [{ kind: 'step', index, step, calls: tools.get(index) ?? [] }];
  };
  const groups = steps.some((step) => ownLogEntry(step) !== null) ? logGroups(steps) : singleSteps(steps);
  const scenes = groups.flatMap(({ recall, actions, log, number, action }): Scene[] => {
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
  return [...scenes, ...turns.rest().flatMap((turn) => saidAtLast(turn)), ...unfinished.map(sceneOfCall)];
}

/** Indexes of the steps that belong to one turn. */
interface StepGroup {
  recall: number[];
  actions: number[];
  log: number[];
  /** The agent's number of the turn; null where it is not written down. */
  number: number | null;
  /** Where there is no log: the action that the turn must have chosen. */
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

/** The turns of a run, each of which is given away once. */
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

  /** The next turn that chose this action, with those before it, from which no step came. */
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

/** No run has so many turns from which nothing came, one after the other. */
const mostAhead = 200;

function actionOf(turn: Turn): string | null {
  turn.action ??= replyParts(lastReply(turn)).action;
  return turn.action;
}

/** Whether a reply holds every text among the arguments, written as JSON or as it is. */
function holds(reply: string, args: OriginalStep['action']['args']): boolean {
  const texts = Object.values(args ?? {}).filter((value) => typeof value === 'string');
  return texts.every((text) => reply.includes(text) || reply.includes(JSON.stringify(text).slice(1, -1)));
}

function turnsOf(calls: readonly OriginalCall[]): Turn[] {
  const turns: Turn[] = [];
  for (const call of calls) {
    if (call.role !== 'agent') continue;
    // A turn is asked for again with a complaint at the end of the prompt.
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

/** Turns of the same number have their summaries in the same file: one each, and the last one what is left. */
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

/** @param acted the last of its replies led to a step */
function saidIn({ replies }: Turn, acted: boolean): Scene[] {
  return replies.flatMap((call, index): Scene[] => {
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

/** A turn that no step belongs to: its replies were all rejected, or the run ended before anything was done. */
function saidAtLast(turn: Turn): Scene[] {
  const { action, missing } = replyParts(lastReply(turn));
  const wasUsable = action !== null && missing.length === 0;
  const { observation, step } = turn.summaries;
  return [...saidIn(turn, wasUsable), ...[...observation, ...step].map(sceneOfCall)];
}

function lastReply({ replies }: Turn): string {
  return replies.at(-1)?.completion ?? '';
}

function sceneOfCall(call: OriginalCall): Scene {
  return { kind: 'call', call };
}
