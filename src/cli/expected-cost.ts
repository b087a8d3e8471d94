import { UserError } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';
import { knownPrices, PriceTable } from '../models/index.ts';
import type { ModelRoles, Plan, RunRecord, RunSpec } from '../schema/index.ts';
import { median } from '../statistics/index.ts';
import type { Experiment } from '../store/index.ts';
import type { Context } from './context.ts';
import { readableExperiments } from './locate.ts';
import { counted, dollars } from './table.ts';
import { confirm } from './terminal-questions.ts';

/** The expected cost of planned runs that call language models. */
export interface ExpectedCost {
  /** Runs that have not ended yet. */
  runs: number;
  /**
   * In US dollars: for each run the median of earlier runs of its agent with its models (on its task, if there are
   * some), else its limit.
   */
  dollars: number;
  /** How many earlier runs the estimate is based on. */
  learned_from: number;
  /** Runs without an estimate: no earlier run, and no limit. */
  unknown: number;
}

/** In US dollars, if the settings don't give another amount. */
const usualConfirmation = 10;
/** Enough for a median. */
const mostEarlier = 200;

/** Null if no run calls a language model with a known price. */
export function expectedCost(context: Context, { runs, prices, spend }: Plan): ExpectedCost | null {
  const table = new PriceTable(prices);
  const asking = runs.filter(
    ({ roles }) => roles && modelsOf(roles).some((model) => table.priceOf(model) !== null),
  );
  if (asking.length === 0) return null;
  const experiments = readableExperiments({ ...context, log: () => {} });
  const waiting = asking.filter(({ experiment, id }) => {
    const known = experiments.find(({ plan }) => plan.name === experiment);
    return known?.specOf(id) == null || recordOf(known, id)?.status !== 'finished';
  });
  const earlier = Map.groupBy(earlierRuns(experiments, waiting), ({ spec }) => kindOf(spec));
  const guesses = waiting.map((run) => guess(run, earlier.get(kindOf(run)) ?? []));
  const sum = guesses.reduce<number>((total, each) => total + (each ?? 0), 0);
  const unknown = guesses.filter((each) => each === null).length;
  const limit = spend?.money ?? Number.POSITIVE_INFINITY;
  const isLimited = spend?.money !== undefined;
  return {
    runs: waiting.length,
    dollars: isLimited && unknown > 0 ? limit : Math.min(sum, limit),
    unknown: isLimited ? 0 : unknown,
    learned_from: [...earlier.values()].flat().length,
  };
}

export function costText({ runs, dollars: sum, learned_from: learned, unknown }: ExpectedCost): string {
  const known = runs - unknown;
  const runsText = counted(known, 'run');
  const estimate =
    learned === 0
      ? `at most ${dollars(sum)} for ${runsText}, by their limits`
      : `about ${dollars(sum)} for ${runsText}, from ${counted(learned, 'earlier run')}`;
  const parts = [
    ...(known === 0 ? [] : [estimate]),
    ...(unknown === 0
      ? []
      : [
          `unknown for ${counted(unknown, 'run')} (no earlier run of this agent and model; --money limits one run, --experiment-money all of them)`,
        ]),
  ];
  return `Expected cost of language models: ${parts.join('; ')}`;
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

function guess(run: RunSpec, earlier: readonly RunRecord[]): number | null {
  const sameTask = earlier.filter(({ spec }) => spec.task === run.task);
  const paid = (sameTask.length > 0 ? sameTask : earlier).map(({ spent }) => spent?.money ?? 0);
  const { money: limit } = run.limits;
  if (paid.length === 0) return limit ?? null;
  return Math.min(median(paid), limit ?? Number.POSITIVE_INFINITY);
}

/** Ended runs of the same agents and models with a known cost, newest first. */
function earlierRuns(experiments: readonly Experiment[], runs: readonly RunSpec[]): RunRecord[] {
  const kinds = new Set(runs.map(kindOf));
  const newest = experiments.toSorted((one, other) => other.plan.created - one.plan.created);
  const found: RunRecord[] = [];
  for (const experiment of newest)
    for (const spec of experiment.plan.runs) {
      if (found.length === mostEarlier) return found;
      if (spec.roles === undefined || !kinds.has(kindOf(spec))) continue;
      const record = recordOf(experiment, spec.id);
      if (record?.status === 'finished' && record.spent?.unpriced === 0) found.push(record);
    }
  return found;
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
