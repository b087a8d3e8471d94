import { type RunPlace, RunState } from '../schema/index.ts';

/** `10000 runs: 9980 queued, 20 running` */
export function countsText(places: readonly Pick<RunPlace, 'state'>[]): string {
  const counts = RunState.options.flatMap((state) => {
    const count = places.filter((place) => place.state === state).length;
    return count === 0 ? [] : [`${count} ${state}`];
  });
  return `${places.length} ${places.length === 1 ? 'run' : 'runs'}: ${counts.join(', ')}`;
}
