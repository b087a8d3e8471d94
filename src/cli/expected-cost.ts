import { isDeepStrictEqual } from 'node:util';
import { UserError } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';
import { knownPrices, PriceTable } from '../models/index.ts';
import { spentByAll } from '../runs/index.ts';
import type { ModelRoles, Plan, RunRecord, RunSpec } from '../schema/index.ts';
import { mean } from '../statistics/index.ts';
import { type Experiment, recordingOf, spentUntil } from '../store/index.ts';
import type { Context } from './context.ts';
import { readableExperiments } from './locate.ts';
import { counted, dollars } from './table.ts';
import { confirm } from './terminal-questions.ts';

/** The expected cost of planned runs that call language models. */
export interface ExpectedCost {
  /** Runs that have not ended yet. */
  runs: number;
  /** In US dollars: the sums of both kinds, at most the experiment's limit. */
  dollars: number;
  /** Each at the mean cost of earlier runs of its agent with its models (on its task, if there are some). */
  learned: RunsAt;
  /** How many earlier runs the estimate is based on. */
  learned_from: number;
  /** Each at its limit, as there is no earlier run. */
  limited: RunsAt;
  /** Runs without an estimate: no earlier run, and no limit. */
  unknown: number;
  /** Runs that have not ended yet of models without a known price; not among `runs`. */
  unpriced: number;
  /** The experiment's limit in US dollars, if it is less than the rest adds up to. */
  capped_at?: number;
}

/** A number of runs, and their cost together in US dollars. */
interface RunsAt {
  runs: number;
  dollars: number;
}

/** In US dollars, if the settings don't give another amount. */
const usualConfirmation = 10;
/** Enough for a mean. */
const mostEarlier = 200;

/**
 * Null if no run calls a language model with a known price.
 * @param startsOver whether incomplete runs start over, instead of continuing
 */
export function expectedCost(
  context: Context,
  { name, runs, prices, spend }: Plan,
  startsOver = false,
): ExpectedCost | null {
  const table = new PriceTable(prices);
  const isPriced = ({ roles }: RunSpec) =>
    roles !== undefined && modelsOf(roles).some((model) => table.priceOf(model) !== null);
  if (!runs.some(isPriced)) return null;
  const experiments = readableExperiments({ ...context, log: () => {} });
  const planned = experiments.find((experiment) => experiment.name === name);
  const begun = (run: RunSpec) => (planned?.specOf(run.id) == null ? null : recordOf(planned, run.id));
  const unended = runs.filter((run) => run.roles && begun(run)?.status !== 'finished');
  const waiting = unended.filter(isPriced);
  const earlier = Map.groupBy(earlierRuns(experiments, waiting), ({ spec }) => kindOf(spec));
  const shared = sharedCosts(experiments);
  const paid = (run: RunSpec) => (startsOver ? null : begun(run)?.spent?.money) ?? shared(run);
  const guesses = waiting.map((run) => guess(run, earlier.get(kindOf(run)) ?? [], paid(run)));
  const learned = together(guesses, 'learned');
  const limited = together(guesses, 'limited');
  const unknown = guesses.filter((each) => each === null).length;
  const sum = unknown > 0 ? Number.POSITIVE_INFINITY : learned.dollars + limited.dollars;
  const cap = leftOf(spend?.money, planned);
  return {
    ...{ runs: waiting.length, learned, limited, unknown, unpriced: unended.length - waiting.length },
    dollars: cap === undefined ? learned.dollars + limited.dollars : Math.min(sum, cap),
    learned_from: new Set(guesses.flatMap((each) => each?.from ?? [])).size,
    ...(cap !== undefined && cap < sum ? { capped_at: cap } : {}),
  };
}

/** What is left of the limit of an experiment that may have begun; undefined if it has none. */
function leftOf(limit: number | undefined, experiment: Experiment | undefined): number | undefined {
  if (limit === undefined || experiment === undefined) return limit;
  return Math.max(0, limit - spentByAll(experiment).money);
}

export function costText(cost: ExpectedCost): string {
  const { runs, learned, learned_from, limited, unknown, unpriced, capped_at } = cost;
  const spell = capped_at === undefined ? '; --money limits one run, --experiment-money all of them' : '';
  const parts = [
    runs === 0 && 'nothing, as all runs with a known price have finished',
    learned.runs > 0 &&
      `about ${dollars(learned.dollars)} for ${counted(learned.runs, 'run')}, from ${counted(learned_from, 'earlier run')}`,
    limited.runs > 0 &&
      `at most ${dollars(limited.dollars)} for ${counted(limited.runs, 'run')}, by the limit of each (no earlier run of this agent and model)`,
    unknown > 0 && `unknown for ${counted(unknown, 'run')} (no earlier run of this agent and model${spell})`,
    unpriced > 0 && `unknown for ${counted(unpriced, 'run')} of models without a known price`,
    runs > 0 &&
      capped_at !== undefined &&
      `at most ${dollars(capped_at)} for all together, by the limit of the experiment`,
  ];
  return `Expected cost of language models: ${parts.filter((part) => part !== false).join('; ')}`;
}

/** Models with an unknown price from a provider whose prices are known: their names may be misspelt. */
export function unpricedWarnings({ runs, prices }: Plan): string[] {
  const table = new PriceTable(prices);
  const models = new Set(runs.flatMap(({ roles }) => (roles === undefined ? [] : modelsOf(roles))));
  return [...models].flatMap((model) => {
    const others = Object.keys(knownPrices).filter((known) => known.split('/')[0] === model.split('/')[0]);
    if (others.length === 0 || table.priceOf(model) !== null) return [];
    const meant = nearest(model, others);
    return [
      `${model}: its price is unknown, so its cost is not counted.${meant === null ? '' : ` Did you mean ${meant}?`}`,
    ];
  });
}

/**
 * Prints the expected cost, and asks for confirmation if it is high.
 * @throws UserError `not_confirmed`, or `no_terminal` if there is nobody to ask
 */
export async function confirmCost(context: Context, cost: ExpectedCost | null, yes: boolean): Promise<void> {
  if (cost === null || cost.runs === 0) return;
  context.log(costText(cost));
  if (yes || cost.dollars <= (context.settings.confirmAbove ?? usualConfirmation)) return;
  const sum = dollars(cost.dollars);
  const elsewhere = `use --yes to allow ${sum}; --money and --experiment-money set limits`;
  if (await confirm(context, `These runs may cost about ${sum}. Continue?`, elsewhere)) return;
  throw new UserError(
    'not_confirmed',
    'Nothing was run.',
    'Set limits with --money or --experiment-money, or answer yes.',
  );
}

interface Guess {
  kind: 'learned' | 'limited';
  dollars: number;
  /** The earlier runs that it was learned from. */
  from: readonly RunRecord[];
}

/** @param paid what the run has cost so far */
function guess(run: RunSpec, earlier: readonly RunRecord[], paid: number): Guess | null {
  const whole = earlier.filter((record) => isWhole(record, run));
  const sameTask = whole.filter(({ spec }) => spec.task === run.task);
  const from = sameTask.length > 0 ? sameTask : whole;
  const { money: limit } = run.limits;
  if (from.length > 0) {
    // Costs are skewed and are added up: a median would be too low.
    const left = from.map(({ spent }) => {
      const whole = Math.min(spent?.money ?? 0, limit ?? Number.POSITIVE_INFINITY);
      return Math.max(0, whole - paid);
    });
    return { kind: 'learned', dollars: mean(left), from };
  }
  return limit === undefined ? null : { kind: 'limited', dollars: Math.max(0, limit - paid), from };
}

/** Whether a run says how much another one costs: it cost something, and was not cut off by a limit of its own. */
function isWhole({ spec, end, spent }: RunRecord, { limits }: RunSpec): boolean {
  if ((spent?.money ?? 0) === 0 || end?.reason === 'agent_error') return false;
  return end?.reason.endsWith('_limit') !== true || isDeepStrictEqual(spec.limits, limits);
}

/** The cost of the steps that a fork takes over from its parent: many forks may share one. */
function sharedCosts(experiments: readonly Experiment[]): (run: RunSpec) => number {
  const known = new Map<string, number>();
  return ({ parent }) => {
    const source = experiments.find(({ name }) => name === parent?.experiment);
    if (parent === undefined || source === undefined) return 0;
    const key = JSON.stringify(parent);
    const cost = known.get(key) ?? spentUntil(source.runFolder(parent.run), parent.step).money;
    known.set(key, cost);
    return cost;
  };
}

function together(guesses: readonly (Guess | null)[], kind: Guess['kind']): RunsAt {
  const costs = guesses.flatMap((each) => (each?.kind === kind ? [each.dollars] : []));
  return { runs: costs.length, dollars: costs.reduce((total, each) => total + each, 0) };
}

/** Ended runs of the same agents and models with a known cost, newest first; of copies of a run, one. */
function earlierRuns(experiments: readonly Experiment[], runs: readonly RunSpec[]): RunRecord[] {
  const kinds = new Set(runs.map(kindOf));
  const newest = experiments.toSorted((one, other) => other.plan.created - one.plan.created);
  const found = new Map<string, RunRecord>();
  for (const experiment of newest)
    for (const spec of experiment.plan.runs) {
      if (found.size === mostEarlier) return [...found.values()];
      if (spec.roles === undefined || !kinds.has(kindOf(spec))) continue;
      const record = recordOf(experiment, spec.id);
      if (record?.status !== 'finished' || record.spent?.unpriced !== 0) continue;
      found.set(recordingOf(record), record);
    }
  return [...found.values()];
}

function recordOf(experiment: Experiment, id: string): RunRecord | null {
  try {
    return experiment.runFolder(id).readRecord();
  } catch {
    // Other commands report what is wrong with it.
    return null;
  }
}

/** What determines how much a run calls models, besides its task. */
function kindOf({ agent, roles, agent_options }: RunSpec): string {
  return JSON.stringify([agent, roles && modelsOf(roles), agent_options]);
}

function modelsOf({ agent, editor, fast }: ModelRoles): string[] {
  return [agent, editor, fast].map(({ model }) => model);
}
