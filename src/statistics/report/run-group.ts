import { isJsonObject } from '../../lib/json-values.ts';
import type { MeanEfficiency, RunEvaluation, RunGroup, TokenSums } from '../../schema/index.ts';
import { mean } from '../summary.ts';
import { hasSucceeded, type RunFacts } from './run-facts.ts';
import { runsThatShareSteps } from './shared-steps.ts';

/** Figures of a group of runs: of a task–agent pair, or of all runs of an agent. */
export function groupOf(runs: readonly RunFacts[]): RunGroup {
  const ended = runs.filter(({ line }) => line.end !== null);
  const sharing = runsThatShareSteps(runs.map(({ evaluation }) => evaluation));
  return {
    runs: runs.length,
    unfinished: runs.filter(({ judged }) => !judged).length,
    ...(sharing === 0 ? {} : { sharing_steps: sharing }),
    valid: runs.filter(({ line }) => line.score !== null).length,
    stale: runs.filter(({ line }) => line.stale).length,
    outcomes: outcomesOf(runs),
    ends: countsOf(ended.flatMap(({ line }) => line.end?.reason ?? [])),
    infrastructure: countsOf(
      runs.filter(({ infrastructure }) => infrastructure).map(({ line }) => line.end?.cause ?? 'unknown'),
    ),
    integrity: {
      flagged: runs.filter(({ flagged }) => flagged).length,
      doubted: runs.filter(({ doubted }) => doubted).length,
      runs_by_kind: countsOf(runs.flatMap(({ line }) => line.flags)),
    },
    errors: countsOf(ended.flatMap(({ line }) => line.errors)),
    caveats: [...new Set([...runs.flatMap(({ line }) => line.caveats), ...differencesAmong(runs)])].sort(),
    efficiency: efficiencyOf(ended),
    ...processMeans(ended.map(({ evaluation }) => evaluation)),
  };
}

/** What should be the same in runs of one task that are pooled. */
function differencesAmong(runs: readonly RunFacts[]): string[] {
  const tasks = [...Map.groupBy(runs, ({ line }) => line.task).values()];
  const differ = (read: (run: RunFacts) => string | undefined) =>
    tasks.some((group) => new Set(group.flatMap((run) => read(run) ?? [])).size > 1);
  return [
    ...(differ(({ evaluation }) => evaluation.task_version) ? ['different versions of the task'] : []),
    ...(differ(measuredReference) ? ['graded against different baselines or references'] : []),
    ...(differ(({ evaluation }) => evaluation.conditions) ? ['different limits or settings of models'] : []),
  ];
}

/** Undefined in old grades, whose baseline may be that of one session. */
function measuredReference({ scoringReference }: RunFacts): string | undefined {
  return scoringReference === null || scoringReference.baseline.seeds === null
    ? undefined
    : JSON.stringify(scoringReference);
}

/** The count of each word. */
function countsOf(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words.toSorted()) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

function outcomesOf(runs: readonly RunFacts[]): RunGroup['outcomes'] {
  const counts = {
    ...{ success: 0, small_improvement: 0, no_improvement: 0, invalid: 0, infrastructure: 0, unfinished: 0 },
  };
  for (const { line } of runs) counts[line.outcome] += 1;
  return counts;
}

function efficiencyOf(runs: readonly RunFacts[]): MeanEfficiency | null {
  if (runs.length === 0) return null;
  const used = runs.map(({ evaluation }) => evaluation.efficiency);
  const meanOf = (value: (one: RunEvaluation['efficiency']) => number) => mean(used.map(value));
  const meanOfKnown = (value: (one: RunEvaluation['efficiency']) => number | null) =>
    meanOrNull(used.flatMap((one) => value(one) ?? []));
  const money = used.flatMap((one) => one.money ?? []);
  return {
    runs: runs.length,
    steps: mean(runs.map(({ line }) => line.steps)),
    tokens: {
      agent: meanTokens(used.map(({ tokens }) => tokens.agent)),
      tools: meanTokens(used.map(({ tokens }) => tokens.tools)),
    },
    money: meanOrNull(money),
    priced: money.length,
    seconds: {
      wall: meanOf(({ seconds }) => seconds.wall),
      model: meanOf(({ seconds }) => seconds.model),
      execution: meanOf(({ seconds }) => seconds.execution),
      overhead: meanOf(({ seconds }) => seconds.overhead),
      waiting: meanOf(({ seconds }) => seconds.waiting),
    },
    cpu_seconds: meanOfKnown((one) => one.cpu_seconds),
    gpu_seconds: meanOfKnown((one) => one.gpu_seconds),
    peak_memory_bytes: meanOfKnown((one) => one.peak_memory_bytes),
    ...gpusOf(used.flatMap(({ gpus }) => gpus ?? [])),
    ...successesPer(runs.filter(({ inRate }) => inRate)),
  };
}

function gpusOf(
  used: readonly NonNullable<RunEvaluation['efficiency']['gpus']>[],
): Pick<MeanEfficiency, 'gpus'> {
  if (used.length === 0) return {};
  return {
    gpus: {
      held_seconds: mean(used.map((one) => one.held_seconds)),
      busy_seconds: meanOrNull(used.flatMap((one) => one.busy_seconds ?? [])),
      peak_memory_bytes: meanOrNull(used.flatMap((one) => one.peak_memory_bytes ?? [])),
    },
  };
}

/** Only of runs that are in a rate: it is unknown whether others succeeded. */
function successesPer(
  runs: readonly RunFacts[],
): Pick<MeanEfficiency, 'success_per_dollar' | 'success_per_hour'> {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const used = runs.map(({ evaluation }) => evaluation.efficiency);
  const successes = runs.filter(hasSucceeded).length;
  const money = used.flatMap((one) => one.money ?? []);
  const dollars = money.length < used.length ? 0 : sum(money);
  const hours = sum(used.map(({ seconds }) => seconds.wall)) / 3600;
  return {
    success_per_dollar: finiteOrNull(successes / dollars),
    success_per_hour: finiteOrNull(successes / hours),
  };
}

/** Mean cost of a run if every cost is known: a mean of some of them would be another quantity. */
export function moneyOfAll(efficiency: MeanEfficiency | null): number | null {
  return efficiency !== null && efficiency.priced === efficiency.runs ? efficiency.money : null;
}

function meanTokens(sums: readonly TokenSums[]): TokenSums {
  return {
    calls: mean(sums.map(({ calls }) => calls)),
    prompt: mean(sums.map(({ prompt }) => prompt)),
    cached: mean(sums.map(({ cached }) => cached)),
    completion: mean(sums.map(({ completion }) => completion)),
    reasoning: mean(sums.map(({ reasoning }) => reasoning)),
    estimated: mean(sums.map(({ estimated }) => estimated)),
  };
}

/** Null for NaN and infinity. */
export function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

export function meanOrNull(values: readonly number[]): number | null {
  return values.length === 0 ? null : mean(values);
}

/** Means of every number, and shares of yes-or-no measures, by path; an agent without a plan has no items to count. */
function processMeans(evaluations: readonly RunEvaluation[]): Pick<RunGroup, 'process' | 'process_runs'> {
  const values = new Map<string, number[]>();
  for (const { process } of evaluations) {
    const { plan, ...rest } = process;
    collect(plan.kept ? process : { ...rest, plan: { kept: false } }, '', values);
  }
  const sorted = [...values].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    process: Object.fromEntries(sorted.map(([path, known]) => [path, mean(known)])),
    process_runs: Object.fromEntries(sorted.map(([path, known]) => [path, known.length])),
  };
}

function collect(value: unknown, path: string, into: Map<string, number[]>): void {
  if (typeof value === 'number' || typeof value === 'boolean') {
    const known = into.get(path);
    if (known === undefined) into.set(path, [Number(value)]);
    else known.push(Number(value));
  } else if (isJsonObject(value)) {
    for (const [name, inner] of Object.entries(value)) {
      collect(inner, path === '' ? name : `${path}.${name}`, into);
    }
  }
}
