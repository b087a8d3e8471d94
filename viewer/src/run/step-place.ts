import { createContext, use } from 'react';
import type { RunAddress } from '../addresses.ts';

/** The run, and its step, to which the components around belong. */
export interface StepPlace extends RunAddress {
  step: number;
}

export const StepPlaceContext = createContext<StepPlace | null>(null);

export function useStepPlace(): StepPlace {
  const place = use(StepPlaceContext);
  if (place === null) throw new Error('There is no run around this component.');
  return place;
}

/** Addresses of data of a run. */
export function runPath({ experiment, run }: RunAddress, ...more: string[]): string[] {
  return ['experiments', experiment, 'runs', run, ...more];
}

export function stepPath(place: StepPlace, ...more: string[]): string[] {
  return runPath(place, 'steps', String(place.step), ...more);
}
