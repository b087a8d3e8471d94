import { showPlural } from '../format/numbers.ts';
import { Notice } from '../parts/states.tsx';

/** Names the runs that are left out of all numbers, to show that the numbers are incomplete. */
export function UnreadableRuns({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <Notice kind="warning">
      {showPlural(names.length, 'run')} can't be read and {names.length === 1 ? 'is' : 'are'} left out:{' '}
      {names.slice(0, 5).join(', ')}
      {names.length > 5 ? ' …' : ''}
    </Notice>
  );
}
