import type { Lesson } from '../../schema/index.ts';
import { plainName } from './priors.ts';

/**
 * By how much more a number or rewrite of this name is trusted because of other runs: twice if it helped one of them,
 * half if it helped none, 1 if none tried it.
 */
export function trustBy(lessons: readonly Lesson[], kind: 'number' | 'rewrite', name: string): number {
  const alike = lessons.filter(
    ({ change }) => change.kind === kind && plainName(change.name) === plainName(name),
  );
  if (alike.length === 0) return 1;
  return alike.some(({ better }) => better > 0) ? 2 : 0.5;
}
