import type { Lesson } from '../../schema/index.ts';
import { Climb } from './climb.ts';
import type { Knob } from './knobs.ts';
import { RandomSearch } from './random-search.ts';
import { SeedSearch } from './seed-search.ts';
import type { Strategy } from './strategy.ts';

export const strategyNames = ['climb', 'random', 'seeds'] as const;
export type StrategyName = (typeof strategyNames)[number];

type Start = (knobs: readonly Knob[], random: () => number, experience: readonly Lesson[]) => Strategy;

/** The search, and the two controls that it must beat, which use nothing that other runs learned. */
export const strategies: Record<StrategyName, Start> = {
  climb: (...given) => new Climb(...given),
  random: (knobs, random) => new RandomSearch(knobs, random),
  seeds: (knobs) => new SeedSearch(knobs),
};
