import { dollars } from '../../lib/dollars.ts';
import type { Comparison, Difference } from '../../schema/index.ts';
import { choose } from '../numeric/permutation.ts';
import { significanceLevel } from './options.ts';

/**
 * A comparison in plain sentences: what is compared, the overall result, each task that changed, the cost.
 * @param isByAgent whether each agent is compared with itself; otherwise all runs of a side on a task are taken
 *   together
 * @param areMixed whether they are those of several agents
 */
export function sentencesOf(
  comparison: Omit<Comparison, 'sentences'>,
  isByAgent: boolean,
  areMixed: boolean,
): string[] {
  const { a, b, pairs, only_a, only_b, overall } = comparison;
  const [one, many] = isByAgent ? ['task–agent pair', 'task–agent pairs'] : ['task', 'tasks'];
  if (pairs.length === 0) return [`${a} and ${b} have no ${one} in common that both have graded runs of.`];
  return [
    `${b} is compared with ${a} on ${counted(pairs.length, one, many)} that both have.`,
    ...(areMixed ? ['They share no agent: on each task, all runs of a side are taken together.'] : []),
    ...leftOut(a, only_a),
    ...leftOut(b, only_b),
    ...successSentence(comparison),
    ...normalisedSentence(comparison),
    ...superioritySentence(comparison),
    ...pairSentences(comparison),
    ...tooFewSentence(comparison),
    ...useSentence(comparison, overall.money, 'cost', dollars),
    ...useSentence(comparison, overall.seconds, 'took', (value) => `${value.toFixed(1)} s`),
    ...useSentence(comparison, overall.tokens, 'used', (value) => `${value.toFixed(0)} tokens`),
  ];
}

function leftOut(name: string, pairs: readonly string[]): string[] {
  return pairs.length === 0 ? [] : [`Only ${name} has runs that count of ${pairs.join('; ')}: left out.`];
}

function successSentence({ b, overall: { success } }: Omit<Comparison, 'sentences'>): string[] {
  if (success === null) return [];
  const { value } = success;
  const change = value === 0 ? 'is the same' : `is ${points(value)} ${value > 0 ? 'higher' : 'lower'}`;
  return [
    `The success rate of ${b} ${change}${between(success, hundredths, ' percentage points')}: ${verdict(success)}.`,
  ];
}

function normalisedSentence({ b, overall: { normalised } }: Omit<Comparison, 'sentences'>): string[] {
  if (normalised === null) return [];
  const { value } = normalised;
  const change = value === 0 ? 'is the same' : `is ${decimals(value)} ${value > 0 ? 'higher' : 'lower'}`;
  return [
    `The normalised score of ${b} (0 = baseline, 1 = reference) ${change}${between(normalised, decimals)}: ${verdict(normalised)}.`,
  ];
}

function superioritySentence({ a, b, overall }: Omit<Comparison, 'sentences'>): string[] {
  const { superiority } = overall;
  if (superiority === null) return [];
  const { value } = superiority;
  const signed = `${value < 0 ? '−' : ''}${Math.abs(value).toFixed(2)}`;
  return [
    `The probability that a run of ${b} has a better score than one of ${a} is ${chanceText(0.5 + value / 2)} (ties count half; a superiority of ${signed}): ${verdict(superiority)}.`,
  ];
}

/** In whole per cent; only what is certain is 0 % or 100 %. */
function chanceText(chance: number): string {
  const percent = Number((100 * chance).toFixed(6));
  const rounded = Math.round(percent);
  if (rounded === 0 && percent > 0) return 'under 1 %';
  if (rounded === 100 && percent < 100) return 'over 99 %';
  return `${rounded} %`;
}

function pairSentences({ a, b, pairs }: Omit<Comparison, 'sentences'>): string[] {
  const beyond = pairs.filter(({ superiority }) => superiority.beyond_noise);
  if (beyond.length === 0) return noPairSentence(pairs);
  return beyond.map(({ task, agent, superiority, ...sides }) => {
    const name = agent === null || agent === '' ? task : `${task} (${agent})`;
    const word = superiority.value > 0 ? 'better' : 'worse';
    const rates = [sides.a, sides.b].map(({ success }) => `${success.successes} of ${success.runs}`);
    return `On ${name}, ${b} is ${word} than ${a} beyond noise (${pValue(superiority.p_corrected)}): ${rates[1]} runs succeeded, before ${rates[0]}.`;
  });
}

/** That there is no task with a difference beyond noise, or that there could be none. */
function noPairSentence(pairs: Comparison['pairs']): string[] {
  const count = pairs.length;
  if (count === 1)
    return canBeBeyondNoise([pairs.map(sizesOf)], 'superiority')
      ? ['On no single task is the difference beyond noise.']
      : [];
  const correction = `(corrected for ${count} comparisons)`;
  if (
    canBeBeyondNoise(
      pairs.map((pair) => [sizesOf(pair)]),
      'superiority',
    )
  )
    return [`On no single task is the difference beyond noise ${correction}.`];
  const runs = runsNeeded((sizes) => Array(count).fill([sizes]));
  return [
    `On no single task can the difference be beyond noise with so few runs ${correction}: it takes at least ${runs} on each side and task (--seeds).`,
  ];
}

/** Says so if even the clearest result could not be beyond noise, and how many runs are needed. */
function tooFewSentence({ pairs }: Omit<Comparison, 'sentences'>): string[] {
  if (canBeBeyondNoise([pairs.map(sizesOf)], 'success')) return [];
  const runs = runsNeeded((sizes) => [Array(pairs.length).fill(sizes)]);
  return [
    `With so few runs no difference can be beyond noise: it takes at least ${runs} on each side${pairs.length === 1 ? '' : ' and task'} (--seeds).`,
  ];
}

/** The numbers of runs of both sides. */
type Sizes = readonly [a: number, b: number];

/** What decides: over all tasks any measure, of which the rate of success can be the clearest; on one task superiority. */
type Decisive = 'success' | 'superiority';

function sizesOf({ a, b }: Comparison['pairs'][number]): Sizes {
  return [a.success.runs, b.success.runs];
}

/** Whether the clearest result could be, among these comparisons, each over some tasks: Holm multiplies its p-value. */
function canBeBeyondNoise(comparisons: readonly (readonly Sizes[])[], measure: Decisive): boolean {
  const smallest = Math.min(...comparisons.map((sizes) => minP(sizes, measure)));
  return comparisons.length * smallest < significanceLevel;
}

/** The number of runs of each side and task from which a result can be beyond noise. */
function runsNeeded(comparisonsOf: (sizes: Sizes) => readonly (readonly Sizes[])[]): number {
  let runs = 1;
  while (!canBeBeyondNoise(comparisonsOf([runs, runs]), 'superiority')) runs += 1;
  return runs;
}

/**
 * The smallest two-sided p-value of a permutation test within tasks: that of all runs of one side being better. The
 * opposite is as large a superiority; it is as large a difference of rates only where the sides have equally many runs.
 */
function minP(sizes: readonly Sizes[], measure: Decisive): number {
  const extremes = measure === 'superiority' || sizes.every(([a, b]) => a === b) ? 2 : 1;
  return sizes.reduce((p, [a, b]) => p / choose(a + b, a), extremes);
}

function useSentence(
  { a, b }: Omit<Comparison, 'sentences'>,
  use: { a: number | null; b: number | null },
  verb: string,
  show: (value: number) => string,
): string[] {
  if (use.a === null || use.b === null || (use.a === 0 && use.b === 0)) return [];
  const share = use.a === 0 ? 'compared with' : shareOf(use.b / use.a);
  return [`On average, a run of ${b} ${verb} ${show(use.b)}, ${share} one of ${a} (${show(use.a)}).`];
}

/** How a use compares with another, in two digits, in words before that other. */
function shareOf(ratio: number): string {
  const more = Math.round(100 * (ratio - 1));
  if (more === 0) return 'the same as';
  if (ratio < 1) return `${Number((100 * ratio).toPrecision(2))} % of`;
  return more < 10 ? `${more} % more than` : `${Number(ratio.toPrecision(2))} times as much as`;
}

function verdict({ beyond_noise, p_corrected }: Difference): string {
  return `${beyond_noise ? 'beyond noise' : 'not beyond noise'} (${pValue(p_corrected)})`;
}

function pValue(p: number): string {
  return p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`;
}

function between({ interval }: Difference, show: (value: number) => string, unit = ''): string {
  if (interval === null) return '';
  const sign = (value: number) => (value < 0 ? '−' : '');
  const { low, high } = interval;
  return ` (95 % interval of the difference: ${sign(low)}${show(low)} to ${sign(high)}${show(high)}${unit})`;
}

/** A difference of shares, without its sign. */
function points(value: number): string {
  return `${hundredths(value)} percentage points`;
}

function hundredths(value: number): string {
  return Math.abs(value * 100).toFixed(1);
}

function decimals(value: number): string {
  return Math.abs(value).toFixed(3);
}

function counted(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}
