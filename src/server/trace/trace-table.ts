import { z } from 'zod';
import { ActionStatus, BranchId, BranchOrigin, secondsUsedAfterCall } from '../../schema/index.ts';
import { type Lineage, lineageOf, mainLineage } from '../../store/index.ts';
import type { LineFacts } from './line-facts.ts';

/** The fields of each step that ended. They are all numbers, so that 20,000 steps take two megabytes. */
export const columnNames = [
  /** Where its last line ends in the trace; it begins where the step before ends. */
  'end',
  'started',
  'duration_ms',
  'seconds_used',
  /** What was performed: index into `actions`. */
  'action',
  /** What the agent wrote, if that was replaced: one more than its index into `actions`; else 0. */
  'proposed',
  /** Index into the values of `ActionStatus`. */
  'status',
  'calls',
  'tokens',
  'money',
  'unpriced',
  /** How many of the tokens are estimated. */
  'estimated',
  'changed',
  /** Bits: the n-th stands for the n-th of `entryNames`. */
  'entries',
] as const;
export type ColumnName = (typeof columnNames)[number];

/** What has happened since the last step that ended. */
const Now = z.object({
  /** The step that was begun and has not ended. */
  step: z.int().nullable(),
  started: z.number(),
  action: z.int(),
  proposed: z.int(),
  calls: z.int(),
  tokens: z.number(),
  money: z.number(),
  unpriced: z.int(),
  estimated: z.number(),
  entries: z.number(),
});

const Range = z.object({ offset: z.number(), bytes: z.number() });

const nothing: z.infer<typeof Now> = {
  ...{
    step: null,
    started: 0,
    action: 0,
    proposed: 0,
    calls: 0,
    tokens: 0,
    money: 0,
    unpriced: 0,
    estimated: 0,
  },
  entries: 0,
};
/** The bits of a number on which JavaScript's bit operations work. */
const maxEntryNames = 31;
const maxActions = 1000;
const maxActionLength = 200;

export const TraceTable = z.object({
  /** Bytes of the lines in it. */
  bytes: z.int().min(0),
  lines: z.int().min(0),
  /** SHA-256 of the last line, and its length without the line break: they reveal a file that was replaced. */
  lastLine: z.object({ hash: z.string(), bytes: z.int() }),
  steps: z.int().min(0),
  columns: z.record(z.enum(columnNames), z.instanceof(Float64Array)),
  /** The position of each model call's line, by its number: later calls that continue it need it. */
  calls: z.array(Range),
  actions: z.array(z.string()),
  entryNames: z.array(z.string()),
  /** The first line of a session. */
  first: Range.nullable(),
  /** The last line that ended the run, if no session began after it. */
  ending: Range.nullable(),
  sessions: z.int().min(0),
  now: Now,
  /** The last action about which the run's gate was asked, and what it put in its place for a step. */
  gate: z.object({ proposed: z.string(), replacement: z.string().nullable(), step: z.int() }),
  /** In the order in which they were made, `main` first; with their finished steps. */
  branches: z.array(z.object({ id: BranchId, origin: BranchOrigin.nullable(), steps: z.int() })),
  selected: BranchId,
  /** The branches that lead to the table's history, each with the last step that counts. */
  lineage: z.map(BranchId, z.number()),
  /** The budget's seconds according to the last event that has them, and the seconds from then to the newest event. */
  clock: z.object({ told: z.number(), since: z.number(), time: z.number() }),
  /** Why nothing after these lines is known. */
  unreadable: z.string().nullable(),
});
export type TraceTable = z.infer<typeof TraceTable>;

/** @param lineage of the branch whose history the table describes */
export function emptyTable(lineage: Lineage = mainLineage): TraceTable {
  const columns = Object.fromEntries(columnNames.map((name) => [name, new Float64Array(64)]));
  return TraceTable.parse({
    ...{
      bytes: 0,
      lines: 0,
      lastLine: { hash: '', bytes: 0 },
      steps: 0,
      columns,
      calls: [],
      actions: [],
      entryNames: [],
    },
    ...{
      first: null,
      ending: null,
      sessions: 0,
      now: nothing,
      gate: { proposed: '', replacement: null, step: 0 },
      clock: { told: 0, since: 0, time: 0 },
      branches: [{ id: 'main', origin: null, steps: 0 }],
      selected: 'main',
      lineage: new Map(lineage),
      unreadable: null,
    },
  });
}

/** The value of a column for a step that ended. */
export function cell(table: TraceTable, name: ColumnName, step: number): number {
  return table.columns[name][step - 1] ?? 0;
}

/** The position of a step's lines: the step `steps + 1` is what came after the last one that ended. */
export function rangeOf(table: TraceTable, step: number): { from: number; to: number } {
  const from = step === 1 ? 0 : cell(table, 'end', step - 1);
  return { from, to: step > table.steps ? table.bytes : cell(table, 'end', step) };
}

/** Steps that a page shows: those that ended, and one that was begun. */
export function shownSteps(table: TraceTable): number {
  return table.steps + (table.now.step === null ? 0 : 1);
}

/** Steps of all branches, and one that was begun. */
export function usedSteps({ branches, now }: TraceTable): number {
  return branches.reduce((sum, { steps }) => sum + steps, now.step === null ? 0 : 1);
}

/** Whether something came after the last step. */
export function hasTail({ now }: TraceTable): boolean {
  return now.step === null && (now.entries !== 0 || now.calls > 0 || now.tokens > 0);
}

/** The history of the selected branch, as far as the lines are known. */
export function selectedLineage({ branches, selected }: TraceTable): Lineage {
  return lineageOf(selected, (id) => branches.find((branch) => branch.id === id)?.origin ?? null);
}

function isShown({ lineage }: TraceTable, facts: { branch?: BranchId | undefined; step: number }): boolean {
  return facts.step <= (lineage.get(facts.branch ?? 'main') ?? 0);
}

/**
 * Adds one event.
 * @returns what is wrong with it, else null
 */
export function addFacts(
  table: TraceTable,
  facts: LineFacts,
  at: { offset: number; bytes: number },
): string | null {
  const { now } = table;
  switch (facts.kind) {
    case 'output':
      return null;
    case 'action_proposed':
      if (isShown(table, facts)) table.gate = { proposed: facts.action, replacement: null, step: facts.step };
      return null;
    case 'action_decided':
      if (isShown(table, facts))
        table.gate = { ...table.gate, replacement: facts.replacement?.action ?? null, step: facts.step };
      return null;
    case 'session_started':
      table.sessions = Math.max(table.sessions, facts.session);
      table.first ??= at;
      table.clock = { told: facts.seconds_used, since: 0, time: facts.time };
      table.ending = null;
      return null;
    case 'run_ended':
      table.ending = at;
      table.clock = { told: facts.seconds_used, since: 0, time: facts.time };
      return null;
    case 'note':
      for (const name of Object.keys(facts.entries)) now.entries |= 2 ** nameIndex(table.entryNames, name);
      return null;
    case 'model_call':
      if (facts.step === null)
        table.clock = { told: secondsUsedAfterCall(facts, table.clock.told), since: 0, time: facts.time };
      else passTime(table, facts.time, facts.waiting_ms);
      // Numbers are consecutive; after a torn line, the next session uses its number again.
      if (facts.call >= 1 && facts.call <= table.calls.length + 1) table.calls[facts.call - 1] = at;
      now.calls += facts.answer === null ? 0 : 1;
      now.tokens += facts.usage.input + facts.usage.output;
      if (facts.usage.source === 'estimate') now.estimated += facts.usage.input + facts.usage.output;
      now.money += facts.cost ?? 0;
      now.unpriced += facts.cost === null ? 1 : 0;
      return null;
    case 'branch_forked':
      table.branches.push({ id: facts.branch, origin: facts.origin, steps: 0 });
      return null;
    case 'branch_selected':
      table.selected = facts.branch;
      return null;
    case 'step_started':
      if (!isShown(table, facts)) return null;
      if (facts.step !== table.steps + 1) return `step ${facts.step} follows step ${table.steps}`;
      passTime(table, facts.time);
      now.step = facts.step;
      now.started = facts.time;
      Object.assign(now, actionsOf(table, facts));
      return null;
    case 'step_finished':
      countStep(table, facts.branch);
      if (!isShown(table, facts)) return null;
      if (facts.step !== now.step) return `step ${facts.step} ends and was not begun`;
      addRow(table, facts, at.offset + at.bytes + 1);
      table.clock = { told: facts.budget.seconds_used, since: 0, time: facts.time };
      return null;
  }
}

/** As `PerformedActions` in the store, from the facts that a table keeps. */
function actionsOf(
  { actions, gate }: TraceTable,
  { step, actor, action }: Extract<LineFacts, { kind: 'step_started' }>,
): Pick<TraceTable['now'], 'action' | 'proposed'> {
  const isDecided = actor === undefined && gate.step === step && gate.proposed === action;
  const replacement = isDecided ? gate.replacement : null;
  const written = actionIndex(actions, action);
  return replacement === null
    ? { action: written, proposed: 0 }
    : { action: actionIndex(actions, replacement), proposed: written + 1 };
}

function countStep({ branches }: TraceTable, branch: BranchId = 'main'): void {
  const found = branches.find(({ id }) => id === branch);
  if (found !== undefined) found.steps += 1;
}

/** @param waitingMs how much of the time since the last event counts against no limit */
function passTime(table: TraceTable, time: number, waitingMs = 0): void {
  const { clock } = table;
  table.clock = { ...clock, since: clock.since + Math.max(0, time - clock.time - waitingMs) / 1000, time };
}

function addRow(table: TraceTable, facts: Extract<LineFacts, { kind: 'step_finished' }>, end: number): void {
  const { step: _, ...now } = table.now;
  const row: Record<ColumnName, number> = {
    ...now,
    end,
    duration_ms: facts.duration_ms,
    seconds_used: facts.budget.seconds_used,
    status: ActionStatus.options.indexOf(facts.status),
    changed: facts.changed_count,
  };
  for (const name of columnNames) {
    if (table.steps === table.columns[name].length) table.columns[name] = longer(table.columns[name]);
    table.columns[name][table.steps] = row[name];
  }
  table.steps += 1;
  table.now = { ...nothing };
}

function longer(column: Float64Array): Float64Array<ArrayBuffer> {
  const more = new Float64Array(column.length * 2);
  more.set(column);
  return more;
}

/**
 * Names beyond the number of bits share the last bit: a search for one of them reads more steps than necessary.
 */
function nameIndex(names: string[], name: string): number {
  const known = names.indexOf(name);
  if (known >= 0) return known;
  if (names.length < maxEntryNames) names.push(name);
  return names.length - 1;
}

/** Agents may call their actions anything. */
function actionIndex(names: string[], action: string): number {
  const name = action.slice(0, maxActionLength);
  const known = names.indexOf(name);
  if (known >= 0) return known;
  return names.length < maxActions ? names.push(name) - 1 : names.length - 1;
}
