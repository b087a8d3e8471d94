import type { ComparedPair, Comparison, ReportPair, RunEvaluation } from '../../schema/index.ts';
import type { Exchanges } from '../numeric/permutation.ts';
import { rateDifferenceInterval } from '../numeric/rate-intervals.ts';
import { mean } from '../summary.ts';
import { sentencesOf } from './comparison-sentences.ts';
import { corrected, differenceIn, exchangesFor, type MatchedPair } from './differences.ts';
import { type ReportOptions, settingsOf } from './options.ts';
import { inOrder, pairsOf } from './pair-data.ts';
import type { PairData } from './pairs.ts';
import { moneyOfAll } from './run-group.ts';

/** Runs that are compared as a whole: of an experiment, or of an agent. */
export interface ComparedSide {
  name: string;
  evaluations: readonly RunEvaluation[];
}

/**
 * The changes from A to B, by task and overall, in numbers and words, and whether they are beyond noise. If the sides
 * have an agent in common, each agent is compared with itself; otherwise all runs of a side are taken together.
 */
export function compareRuns(a: ComparedSide, b: ComparedSide, options: ReportOptions = {}): Comparison {
  const isByAgent = haveCommonAgent(a, b);
  const [ofA, ofB] = [pairsOfSide(a, isByAgent, options), pairsOfSide(b, isByAgent, options)];
  // B is the first of each pair: a difference is B minus A.
  const matched = [...ofB].flatMap(([name, pair]) => {
    const other = ofA.get(name);
    return other === undefined ? [] : [{ a: pair, b: other }];
  });
  const exchanges = exchangesFor(matched.length, settingsOf(options));
  const overall = (measure: 'success' | 'normalised' | 'superiority') =>
    corrected([differenceIn(measure, matched, exchanges)])[0] ?? null;
  const comparison: Omit<Comparison, 'sentences'> = {
    v: 1,
    a: a.name,
    b: b.name,
    pairs: comparedPairs(matched, isByAgent, exchanges),
    only_a: [...ofA.keys()].filter((name) => !ofB.has(name)),
    only_b: [...ofB.keys()].filter((name) => !ofA.has(name)),
    overall: {
      success: overall('success'),
      normalised: overall('normalised'),
      superiority: overall('superiority'),
      money: meansOf(matched, ({ efficiency }) => moneyOfAll(efficiency)),
      seconds: meansOf(matched, ({ efficiency }) => efficiency?.seconds.wall ?? null),
      tokens: meansOf(matched, tokensOf),
    },
  };
  const areMixed = !isByAgent && [a, b].some((side) => agentsOf(side).size > 1);
  return { ...comparison, sentences: sentencesOf(comparison, isByAgent, areMixed) };
}

type PairsByName = ReadonlyMap<string, PairData>;

function pairsOfSide({ evaluations }: ComparedSide, isByAgent: boolean, options: ReportOptions): PairsByName {
  const all = isByAgent ? evaluations : evaluations.map((one) => ({ ...one, agent: '' }));
  return byName(pairsOf(inOrder(all), settingsOf(options)), isByAgent);
}

/** By the names under which they are matched: those of the task and, if the sides share agents, the agent. */
function byName(pairs: readonly PairData[], isByAgent: boolean): PairsByName {
  const counted = pairs.filter(({ inRate }) => inRate.length > 0);
  return new Map(
    counted.map((pair) => [isByAgent ? `${pair.task}, ${pair.agent}` : pair.task, pair] as const),
  );
}

function agentsOf({ evaluations }: ComparedSide): Set<string> {
  return new Set(evaluations.map(({ agent }) => agent));
}

function haveCommonAgent(a: ComparedSide, b: ComparedSide): boolean {
  const agents = agentsOf(a);
  return [...agentsOf(b)].some((agent) => agents.has(agent));
}

function comparedPairs(
  matched: readonly MatchedPair[],
  isByAgent: boolean,
  exchanges: Exchanges,
): ComparedPair[] {
  const differences = corrected(matched.map((pair) => differenceIn('superiority', [pair], exchanges)));
  return matched.flatMap(({ a: after, b: before }, index) => {
    const superiority = differences[index] ?? null;
    if (superiority === null) return [];
    const [rateA, rateB] = [before.pair.success, after.pair.success];
    return [
      {
        task: after.task,
        agent: isByAgent ? after.agent : null,
        a: shown(before.pair),
        b: shown(after.pair),
        success_change: {
          value: (rateB.rate ?? 0) - (rateA.rate ?? 0),
          interval: rateDifferenceInterval([rateB], [rateA]),
        },
        superiority,
      },
    ];
  });
}

function shown({ success, normalised, improvement }: ReportPair): ComparedPair['a'] {
  return { success, normalised, improvement };
}

function tokensOf({ efficiency }: ReportPair): number | null {
  if (efficiency === null) return null;
  const { agent, tools } = efficiency.tokens;
  return agent.prompt + agent.completion + tools.prompt + tools.completion;
}

/** Per run, as the mean over the matched; null if one of them has no value. */
function meansOf(
  matched: readonly MatchedPair[],
  read: (pair: ReportPair) => number | null,
): Comparison['overall']['money'] {
  const side = (pairs: readonly PairData[]) => {
    const known = pairs.flatMap(({ pair }) => read(pair) ?? []);
    return known.length === 0 || known.length < pairs.length ? null : mean(known);
  };
  return { a: side(matched.map((pair) => pair.b)), b: side(matched.map((pair) => pair.a)) };
}
