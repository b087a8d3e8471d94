import { createContext, use } from 'react';

/** The run, and its step, to which the components around belong. */
export interface RunPlace {
  experiment: string;
  run: string;
  step: number;
}

export const RunPlaceContext = createContext<RunPlace | null>(null);

export function useRunPlace(): RunPlace {
  const place = use(RunPlaceContext);
  if (place === null) throw new Error('There is no run around this component.');
  return place;
}

/** Addresses of data of a run. */
export function runPath(
  { experiment, run }: Pick<RunPlace, 'experiment' | 'run'>,
  ...more: string[]
): string[] {
  return ['experiments', experiment, 'runs', run, ...more];
}

export function stepPath(place: RunPlace, ...more: string[]): string[] {
  return runPath(place, 'steps', String(place.step), ...more);
}
