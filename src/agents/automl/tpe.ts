import type { Lesson } from '../../schema/index.ts';
import { Axis } from './axis.ts';
import { hintFor } from './hints.ts';
import type { Knob } from './knobs.ts';
import { ParzenModel } from './parzen-model.ts';
import { literalOf } from './scales.ts';
import { Scouts } from './scouts.ts';
import { CoordinateSearch } from './search.ts';
import type { Ending, IsAffordable, Proposal, Strategy } from './strategy.ts';

/**
 * Screens the numbers one at a time, with large steps; then draws from a tree-structured Parzen estimator, in turns
 * with the climb's smaller steps: the one finds what helps only together, the other what is near.
 */
export class TreeParzenSearch implements Strategy {
  readonly #knobs: readonly Knob[];
  readonly #climb: CoordinateSearch;
  readonly #model: ParzenModel;
  readonly #scouts: Scouts;
  /** How readily each number is changed. */
  readonly #weights: number[];
  readonly #taken = new Set<string>();
  #best: readonly number[];
  #turnOfModel = false;
  #fromClimb: Proposal | null = null;

  /** @param seconds that the script takes: there are no scouts of short ones */
  constructor(
    knobs: readonly Knob[],
    random: () => number,
    lessons: readonly Lesson[] = [],
    seconds = Number.POSITIVE_INFINITY,
  ) {
    this.#knobs = knobs;
    this.#climb = new CoordinateSearch(knobs, random, lessons);
    this.#scouts = new Scouts(knobs, seconds);
    this.#model = new ParzenModel(
      knobs.map((knob) => new Axis(knob)),
      random,
    );
    this.#weights = knobs.map((knob) => knob.prior.weight * hintFor(knob, lessons).factor);
    this.#best = knobs.map(({ value }) => value);
    this.#taken.add(keyOf(this.#best));
  }

  next(isAffordable: IsAffordable): Proposal | null {
    const isNew: IsAffordable = (values) => !this.#taken.has(keyOf(values)) && isAffordable(values);
    const proposal = this.#choose(isNew, isAffordable);
    if (proposal !== null) this.#taken.add(keyOf(proposal.values));
    return proposal;
  }

  tell(proposal: Proposal, ending: Ending, loss: number | null): void {
    if (proposal.isScout === true) {
      this.#scouts.tell(loss);
      return;
    }
    this.#model.learn(proposal.values, loss);
    const changed = this.#knobs.flatMap((_, place) =>
      proposal.values[place] === this.#best[place] ? [] : [place],
    );
    // A number that alone changes nothing is left out of the draws.
    if (ending === 'without effect' && changed.length === 1) this.#weights[changed[0] ?? 0] = 0;
    if (proposal === this.#fromClimb) this.#climb.tell(proposal, ending);
    else if (ending === 'kept') this.#climb.jumpTo(proposal.values);
    if (ending === 'kept') this.#best = proposal.values;
  }

  #choose(isNew: IsAffordable, isAffordable: IsAffordable): Proposal | null {
    // A heat is not interrupted: with another best version, its scouts would no longer be alike.
    this.#fromClimb = this.#scouts.isRunning ? null : this.#climb.next(isNew, true);
    if (this.#fromClimb !== null) return this.#fromClimb;
    this.#turnOfModel = this.#scouts.isRunning || !this.#turnOfModel;
    const drawn = this.#turnOfModel ? this.#draw(isNew, isAffordable) : null;
    if (drawn !== null) return drawn;
    this.#fromClimb = this.#climb.next(isNew);
    return this.#fromClimb ?? this.#draw(isNew, isAffordable);
  }

  #draw(isFree: IsAffordable, isAffordable: IsAffordable): Proposal | null {
    const isNew: IsAffordable = (values) => isFree(values) && isAffordable(this.#slowest(values));
    const scout = this.#scouts.hasRoom ? this.#scout(isNew) : null;
    if (scout !== null) return scout;
    const winner = this.#scouts.finish(isNew);
    if (winner !== null) return this.#proposalOf(winner, 'it was the best one of some short runs.');
    const values = this.#model.draw(this.#best, this.#weights, isNew);
    return values === null ? null : this.#proposalOf(values, promising);
  }

  /** What is expected to make a script faster may not: errors of several numbers would multiply. */
  #slowest(values: readonly number[]): number[] {
    return this.#knobs.map(({ value, prior }, place) => {
      const [best, drawn] = [this.#best[place] ?? value, values[place] ?? value];
      if (prior.effort === 0 || prior.isLength) return drawn;
      return prior.effort > 0 ? Math.max(best, drawn) : Math.min(best, drawn);
    });
  }

  #scout(isNew: IsAffordable): Proposal | null {
    const { length } = this.#scouts;
    const bestAndShort = this.#scouts.shortOf(this.#best);
    if (length === null || bestAndShort === null) return null;
    if (this.#scouts.needsMeasure(this.#best) && isNew(bestAndShort)) {
      this.#scouts.start(this.#best, true);
      const reason = 'with fewer rounds, the best version tells what other short runs must beat.';
      return { ...this.#proposalOf(bestAndShort, reason), isScout: true };
    }
    const isNewAndShort: IsAffordable = (values) => {
      const short = this.#scouts.shortOf(values);
      return short !== null && isNew(values) && isNew(short);
    };
    // The rounds are those of the best version: scouts of one heat are to be alike in them.
    const values = this.#model.draw(this.#best, this.#weights.with(length, 0), isNewAndShort);
    const short = values === null ? null : this.#scouts.shortOf(values);
    if (values === null || short === null) return null;
    this.#scouts.start(values, false);
    const reason = `${promising} A run of fewer rounds tells whether a whole one is worth its time.`;
    return { ...this.#proposalOf(short, reason), isScout: true };
  }

  #proposalOf(values: readonly number[], reason: string): Proposal {
    const changes = this.#knobs.flatMap((knob, place) => {
      const [from, to] = [this.#best[place] ?? knob.value, values[place] ?? knob.value];
      if (from === to) return [];
      return [`${knob.name}: ${literalOf(knob, from)} → ${literalOf(knob, to)} (line ${knob.line})`];
    });
    return { values, seedOffset: 0, change: `${changes.join(', ')}.`, reason };
  }
}

const promising = 'such values stood in good versions more often than in others.';

function keyOf(values: readonly number[]): string {
  return values.join(' ');
}
