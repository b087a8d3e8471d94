import { climb, type ProposedNumbers, type SearchedNumbers, type TryEnding } from './climb.ts';
import type { Knob } from './knobs.ts';
import { drawAtRandom } from './random-search.ts';
import { inTheirFiles } from './script-files.ts';
import type { Study } from './study.ts';
import { isOwn, type Version } from './trial.ts';
import { changesBetween, tunableKnobs, withValues } from './versions.ts';

/** The search, and the baseline that it must beat. */
const searches = { climb, random: drawAtRandom };
export type SearchName = keyof typeof searches;
export const searchNames: readonly SearchName[] = ['climb', 'random'];

/** How to search over the numbers of a script. */
export interface NumberSearch {
  /** Whether numbers are tuned at all. */
  numbers: boolean;
  search: SearchName;
  /** The most versions to try. */
  maxTries: number;
}

/** Changes the numbers of the best script while the budget lasts. Returns why it did not, or null. */
export async function searchNumbers(
  study: Study,
  { numbers: isWanted, search, maxTries }: NumberSearch,
  random: () => number,
): Promise<string | null> {
  if (!isWanted) return 'I was told to leave the numbers alone.';
  if (isOwn(study.best))
    return 'the numbers of my own models are common ones, and the blend chooses among the models.';
  const numbers = new Numbers(study);
  const { knobs } = numbers;
  if (knobs.length === 0) return 'I found no number in the script that I could sensibly change.';
  const list = knobs.map(({ name, literal }) => `${name}=${literal}`).join(', ');
  study.workspace.note({ Plan: `I can change ${knobs.length} numbers: ${list}.` });
  const tries = searches[search](numbers, random);
  let mayTrainLonger = search === 'climb';
  let ending: TryEnding = 'dropped';
  for (let tried = 0; tried < maxTries && !study.workspace.ended; tried += 1) {
    const longer = mayTrainLonger ? numbers.longer(3) : null;
    const proposal = longer ?? tries.next(ending).value ?? null;
    if (proposal === null) break;
    const ended = await numbers.consider(proposal);
    if (longer === null) ending = ended;
    else mayTrainLonger = false;
  }
  return null;
}

/** Trains once for longer if the time is enough for a few runs only: no other change is as sure to help. */
export async function trainLonger(study: Study): Promise<void> {
  const numbers = new Numbers(study);
  // More would leave no time for another change.
  const longer = numbers.longer(2);
  if (longer !== null) await numbers.consider(longer);
}

/** A version may train this many times as long. */
const timesAsLong = [3, 2.5, 2, 1.6, 1.3];
/** There is time for more than a few runs if there is time for one that trains this many times as long. */
const timesOfMany = 4;

/** The numbers of the best version, and how versions with other numbers are measured against it. */
class Numbers implements SearchedNumbers {
  readonly #study: Study;
  readonly #base: Version;
  readonly #tried = new Set<string>();
  readonly knobs: readonly Knob[];
  values: readonly number[];

  constructor(study: Study) {
    this.#study = study;
    this.#base = study.best;
    this.knobs = tunableKnobs(study.best.measured.source, study.workspace.task);
    this.values = this.knobs.map(({ value }) => value);
    this.#tried.add(this.values.join());
  }

  readonly mayTry = (values: readonly number[]): boolean =>
    !this.#tried.has(values.join()) && this.#study.affords(this.#secondsOf(values));

  /** A version that trains longer, at most by this factor, as the time allows; null if it is enough for many. */
  longer(most: number): ProposedNumbers | null {
    const place = this.knobs.findIndex(({ prior, value }) => prior.isLength && value < prior.most);
    const [knob, from] = [this.knobs[place], this.values[place]];
    if (knob === undefined || from === undefined) return null;
    const times = (factor: number) =>
      this.values.with(place, Math.min(knob.prior.most, Math.round(from * factor)));
    if (this.#study.affords(this.#secondsOf(times(timesOfMany)))) return null;
    const factors = timesAsLong.filter((factor) => factor <= most);
    const values = factors.map(times).find((each) => this.mayTry(each));
    if (values === undefined) return null;
    const { name, line } = knob;
    const reason = `the time left is enough for a few more runs only, and ${name} (line ${line}) says how long it trains: one long run is the surest gain.`;
    return { values, reason };
  }

  async consider({ values, reason }: ProposedNumbers): Promise<TryEnding> {
    const { source } = this.#base.measured;
    const change = `${changesBetween(this.knobs, this.values, values).join(', ')}.`;
    this.#tried.add(values.join());
    const ending = await this.#study.consider({
      ...{ operator: 'tune', from: this.#study.best },
      source: withValues(source, this.knobs, values),
      seconds: this.#secondsOf(values),
      notes: { Reason: reason, Change: inTheirFiles(change, source) },
    });
    if (ending === 'kept') this.values = values;
    return ending;
  }

  /** Expected seconds: those of the best version, scaled by the numbers that increase its work. */
  #secondsOf(values: readonly number[]): number {
    let { seconds } = this.#study.best.measured;
    for (const [place, { prior, value }] of this.knobs.entries()) {
      const from = this.values[place] ?? value;
      const to = values[place] ?? value;
      if (from > 0 && to > 0) seconds *= (to / from) ** prior.effort;
    }
    return seconds;
  }
}
