import type { NoiseTest } from './noise-test.ts';
import { type Attempt, lineage, type Operator, type SearchTree } from './search-tree.ts';

/** What to try next. */
export interface Move {
  operator: Operator;
  parent: Attempt;
  other?: Attempt;
  /** How many changes an improvement may make at once; default: 1. */
  changes?: number;
  why: string;
}

export interface Situation {
  tree: SearchTree;
  /** The version that new drafts start from. */
  root: Attempt;
  noiseTest: NoiseTest;
  random: () => number;
  /** 1, plus one each time the search has gained nothing for a while. */
  width: number;
  settings: MoveSettings;
}

export interface MoveSettings {
  operators: ReadonlySet<Operator>;
  /** The number of drafts before anything else is tried; one more for each step of width. */
  drafts: number;
  /** The number of consecutive failures on one path that are worth a repair. */
  maxRepairs: number;
  /** The most changes that an improvement makes at once. */
  maxChanges: number;
}

export type Policy = (situation: Situation) => Move | null;
export const policyNames = ['greedy', 'bandit', 'uct', 'random'] as const;
export type PolicyName = (typeof policyNames)[number];

export const policies: Readonly<Record<PolicyName, Policy>> = {
  /**
   * First drafts; then, in half of the cases in which something failed, a repair; otherwise a change of the best
   * version. If nothing was gained for a while, half of these tune or merge good versions.
   */
  greedy(situation) {
    const moves = movesOf(situation);
    const draft = ofOperator(moves, 'draft')[0];
    if (draft !== undefined) return draft;
    const repairs = ofOperator(moves, 'debug');
    if (repairs.length > 0 && situation.random() < 0.5) return oneOf(repairs, situation.random);
    const others = [...ofOperator(moves, 'tune'), ...ofOperator(moves, 'merge')];
    const isStuck = situation.width > 1 && others.length > 0 && situation.random() < 0.5;
    const [first] = isStuck ? others : ofOperator(moves, 'improve');
    return first ?? others[0] ?? repairs[0] ?? null;
  },

  /**
   * Draws for each operator how often it will gain, based on its record, and takes the one with the highest expected
   * gain for its cost.
   */
  bandit(situation) {
    const { tree, random } = situation;
    const moves = movesOf(situation);
    const [first] = ofOperator(moves, 'draft');
    if (first !== undefined && tree.attempts.filter(({ operator }) => operator === 'draft').length === 0)
      return { ...first, why: 'nothing was written from scratch so far' };
    let chosen: Move | null = null;
    let most = Number.NEGATIVE_INFINITY;
    for (const operator of new Set(moves.map((move) => move.operator))) {
      const { gained, tried, cost } = recordOf(tree, operator);
      const rate = betaDraw(1 + gained, 1 + tried - gained, random);
      if (rate / cost <= most) continue;
      most = rate / cost;
      const why = `${operator} gained in ${gained} of ${tried}, at ${(100 * cost).toFixed(1)} % of the budget each`;
      const [move] = ofOperator(moves, operator);
      chosen = move === undefined ? chosen : { ...move, why };
    }
    return chosen;
  },

  /** Descends from the root to versions that are good or were little tried, and changes the last one. */
  uct(situation) {
    const moves = movesOf({ ...situation, width: Number.POSITIVE_INFINITY });
    if (moves.length === 0) return null;
    const { root, noiseTest, tree } = situation;
    const worth = worthOf(tree, noiseTest);
    let at = root;
    for (;;) {
      const visits = at.children.length === 0 ? 1 : sizeOf(at);
      const here = moves.filter(({ parent }) => parent === at);
      const open = at.children.filter((child) => moves.some(({ parent }) => lineage(parent).includes(child)));
      // The more often a version was visited, the more children it may have.
      if (open.length === 0 || (here.length > 0 && at.children.length < 1 + Math.sqrt(visits))) {
        const move = oneOf(here, situation.random);
        return move === null ? null : { ...move, why: `visited ${visits} times` };
      }
      const promise = (child: Attempt) =>
        bestBelow(child, worth) + 0.7 * Math.sqrt(Math.log(visits + 1) / sizeOf(child));
      at = open.reduce((best, child) => (promise(child) > promise(best) ? child : best));
    }
  },

  random: (situation) => oneOf(movesOf({ ...situation, width: Number.POSITIVE_INFINITY }), situation.random),
};

/** All possible moves, the most promising of each operator first. */
export function movesOf({ tree, root, noiseTest, width, settings }: Situation): Move[] {
  const { operators, drafts, maxRepairs, maxChanges } = settings;
  const ranked = tree.measured.toSorted(
    (one, other) => noiseTest.gain(scoreOf(other), scoreOf(one)) || one.id - other.id,
  );
  const made = tree.attempts.filter(({ operator }) => operator === 'draft').length;
  const changes = changesAtOnce(tree, maxChanges);
  const moves: Move[] = [];
  if (made < drafts + width - 1) moves.push({ operator: 'draft', parent: root, why: `draft ${made + 1}` });
  const inRank = tree.best === null ? ranked : [tree.best, ...ranked.filter((one) => one !== tree.best)];
  for (const [place, parent] of inRank.slice(0, Math.max(1, width)).entries()) {
    const why = place === 0 ? 'the best' : `number ${place + 1}`;
    moves.push({ operator: 'improve', parent, changes, why });
    if (!lineage(parent).some(({ operator }) => operator === 'tune' || operator === 'portfolio'))
      moves.push({ operator: 'tune', parent, why: 'its numbers were not tuned yet' });
  }
  for (const parent of failuresOf(tree, inRank))
    if (parent.depthOfFailure <= maxRepairs)
      moves.push({ operator: 'debug', parent, why: `attempt ${parent.id} failed` });
  moves.push(...mergesOf(tree, ranked.slice(0, 2 + width), root));
  return moves.filter(({ operator }) => operators.has(operator));
}

/**
 * How many changes the next improvement makes at once: many as long as they gain, since a run then finds more; one fewer
 * after each four that did not, since bad ones then hide good ones.
 */
function changesAtOnce(tree: SearchTree, most: number): number {
  const done = tree.attempts.filter(({ operator, status }) => operator === 'improve' && status !== 'pending');
  const next = (count: number, { hasGained }: Attempt) => count + (hasGained ? 1 : -1 / 4);
  return Math.round(done.reduce((count, one) => Math.min(most, Math.max(1, next(count, one))), most));
}

/** Failures that nothing was made from, those of the best versions first, and of these the latest. */
function failuresOf(tree: SearchTree, inRank: readonly Attempt[]): Attempt[] {
  const rankOf = (attempt: Attempt) => {
    const base = lineage(attempt).find(({ measured }) => measured !== null);
    return base === undefined ? inRank.length : inRank.indexOf(base);
  };
  return tree.attempts
    .filter(({ status, view, output, children }) => {
      return status === 'failed' && view !== null && output !== '' && children.length === 0;
    })
    .toSorted((one, other) => rankOf(one) - rankOf(other) || other.id - one.id);
}

/** Pairs of good versions of which neither descends from the other, and that were not merged yet. */
function mergesOf(tree: SearchTree, good: readonly Attempt[], root: Attempt): Move[] {
  const moves: Move[] = [];
  for (const [place, parent] of good.entries()) {
    for (const other of good.slice(place + 1)) {
      if (other === root || parent === root || other.status !== 'kept') continue;
      if (lineage(parent).includes(other) || lineage(other).includes(parent)) continue;
      const isDone = tree.attempts.some(
        (one) => one.operator === 'merge' && one.parent === parent && one.other === other,
      );
      if (!isDone)
        moves.push({ operator: 'merge', parent, other, why: `${parent.id} and ${other.id} are both good` });
    }
  }
  return moves;
}

/** Old attempts count less: what gains at the beginning seldom gains at the end. */
const forgetting = 0.85;

function recordOf(tree: SearchTree, operator: Operator): { gained: number; tried: number; cost: number } {
  const done = tree.attempts.filter((one) => one.status !== 'pending' && one.parent !== null);
  let [gained, tried] = [0, 0];
  for (const one of done) {
    gained *= one.operator === operator ? forgetting : 1;
    tried *= one.operator === operator ? forgetting : 1;
    if (one.operator !== operator) continue;
    tried += 1;
    if (one.hasGained) gained += 1;
  }
  const costs = done.filter((one) => one.operator === operator).map(({ cost }) => cost);
  const usual = done.map(({ cost }) => cost);
  // Adds one attempt at the usual cost, so that a single cheap one decides nothing.
  const cost = (sum(costs) + (usual.length === 0 ? 0.05 : sum(usual) / usual.length)) / (costs.length + 1);
  return { gained, tried, cost: Math.max(cost, 0.001) };
}

/** From 0 for the worst measured version to 1 for the best. */
function worthOf(tree: SearchTree, noiseTest: NoiseTest): (attempt: Attempt) => number {
  const scores = tree.measured.map(scoreOf);
  const gains = scores.map((score) => noiseTest.gain(score, scores[0] ?? 0));
  const [least, most] = [Math.min(...gains), Math.max(...gains)];
  return (attempt) => {
    if (attempt.measured === null) return 0;
    const gain = noiseTest.gain(scoreOf(attempt), scores[0] ?? 0);
    return most > least ? (gain - least) / (most - least) : 0.5;
  };
}

function bestBelow(attempt: Attempt, worth: (attempt: Attempt) => number): number {
  return Math.max(worth(attempt), ...attempt.children.map((child) => bestBelow(child, worth)));
}

function sizeOf(attempt: Attempt): number {
  return 1 + sum(attempt.children.map(sizeOf));
}

export function scoreOf({ measured }: Attempt): number {
  return measured?.evidence.first ?? Number.NaN;
}

function ofOperator(moves: readonly Move[], operator: Operator): Move[] {
  return moves.filter((move) => move.operator === operator);
}

function oneOf<Item>(items: readonly Item[], random: () => number): Item | null {
  return items[Math.floor(random() * items.length)] ?? null;
}

/** A draw from a beta distribution, by two gamma draws (Marsaglia and Tsang 2000). Both parameters are at least 1. */
function betaDraw(one: number, other: number, random: () => number): number {
  const [left, right] = [gammaDraw(one, random), gammaDraw(other, random)];
  return left / (left + right);
}

function gammaDraw(shape: number, random: () => number): number {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
