import type { Lesson } from '../../schema/index.ts';
import type { Knob } from './knobs.ts';
import { RandomSearch } from './random-search.ts';
import { CoordinateSearch } from './search.ts';
import { SeedSearch } from './seed-search.ts';
import type { Strategy } from './strategy.ts';
import { TreeParzenSearch } from './tpe.ts';

export const strategyNames = ['tpe', 'climb', 'random', 'seeds'] as const;
export type StrategyName = (typeof strategyNames)[number];

type Start = (
  knobs: readonly Knob[],
  random: () => number,
  experience: readonly Lesson[],
  /** That the script takes. */
  seconds: number,
) => Strategy;

/** Two searches, and the two controls that they must beat, which use nothing that other runs found out. */
export const strategies: Record<StrategyName, Start> = {
  tpe: (...given) => new TreeParzenSearch(...given),
  climb: (knobs, random, experience) => new CoordinateSearch(knobs, random, experience),
  random: (knobs, random) => new RandomSearch(knobs, random),
  seeds: (knobs) => new SeedSearch(knobs),
};
