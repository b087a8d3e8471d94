import type { Knob } from './knobs.ts';
import { RandomSearch } from './random-search.ts';
import { CoordinateSearch } from './search.ts';
import { SeedSearch } from './seed-search.ts';
import type { Strategy } from './strategy.ts';

export const strategyNames = ['climb', 'random', 'seeds'] as const;
export type StrategyName = (typeof strategyNames)[number];

/** The search itself, and the two controls that it must beat. */
export const strategies: Record<StrategyName, (knobs: readonly Knob[], random: () => number) => Strategy> = {
  climb: (knobs, random) => new CoordinateSearch(knobs, random),
  random: (knobs, random) => new RandomSearch(knobs, random),
  seeds: (knobs) => new SeedSearch(knobs),
};
