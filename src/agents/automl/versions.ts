import { findKnobs, findSeeds, type Knob, type Seed } from './knobs.ts';
import { isSplittingCall } from './places.ts';
import type { Prior } from './priors.ts';
import {
  calleeName,
  type Edit,
  nodesOf,
  parsePython,
  splice,
  syntaxErrors,
  textOf,
} from './python-source.ts';
import { literalOf } from './scales.ts';

/** A starter script as numbers: any version of it is the starter with other numbers in their places. */
export class ScriptVersions {
  readonly source: string;
  readonly knobs: readonly Knob[];
  readonly seeds: readonly Seed[];
  readonly #errors: number;

  /** @param priorOf the prior of a number here, if more is known than its name */
  constructor(
    source: string,
    accepts: (knob: Knob) => boolean = () => true,
    priorOf: (knob: Knob) => Prior = ({ prior }) => prior,
  ) {
    this.source = source;
    this.knobs = findKnobs(source)
      .filter(accepts)
      .map((knob) => ({ ...knob, prior: priorOf(knob) }));
    this.seeds = findSeeds(source);
    this.#errors = syntaxErrors(source);
  }

  /** The script with these values, every seed raised by `seedOffset`; null if the result is not valid Python. */
  render(values: readonly number[], seedOffset = 0): string | null {
    const edits: Edit[] = [];
    for (const [place, knob] of this.knobs.entries()) {
      const text = literalOf(knob, values[place] ?? knob.value);
      if (text === knob.literal) continue;
      edits.push({ from: knob.from, to: knob.to, text });
    }
    if (seedOffset !== 0) {
      for (const seed of this.seeds) {
        edits.push({ from: seed.from, to: seed.to, text: seed.raised(seedOffset) });
      }
    }
    const version = splice(this.source, edits);
    return syntaxErrors(version) > this.#errors ? null : version;
  }

  /** `name old → new`, for every knob that differs from the starter. */
  changes(values: readonly number[]): string[] {
    return this.knobs.flatMap((knob, place) => {
      const value = values[place] ?? knob.value;
      return value === knob.value ? [] : [`${knob.name} ${knob.literal} → ${literalOf(knob, value)}`];
    });
  }

  /**
   * Whether a seed decides how data is split. Then two seeds differ in their data too, and the difference of their
   * scores says little about how exactly two versions can be compared on the same data.
   */
  seedsSplitData(): boolean {
    const top = parsePython(this.source);
    const names = this.#namesOfSeeds(top);
    return nodesOf(top, 'CallExpression').some((call) => {
      if (!isSplittingCall(calleeName(this.source, call))) return false;
      if (this.seeds.some((seed) => seed.from >= call.from && seed.to <= call.to)) return true;
      return (
        textOf(this.source, call)
          .match(/[A-Za-z_]\w*/g)
          ?.some((word) => names.has(word)) ?? false
      );
    });
  }

  /** Variables that hold a seed or what is made from one. */
  #namesOfSeeds(top: ReturnType<typeof parsePython>): Set<string> {
    const names = new Set<string>();
    for (const statement of nodesOf(top, 'AssignStatement')) {
      const target = statement.firstChild;
      const isSeeded = this.seeds.some((seed) => seed.from >= statement.from && seed.to <= statement.to);
      if (isSeeded && target?.name === 'VariableName') names.add(textOf(this.source, target));
    }
    return names;
  }
}
