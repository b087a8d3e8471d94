import type { Lesson } from '../../schema/index.ts';
import type { Workspace } from '../common/workspace.ts';
import { secondsWith } from './candidate.ts';
import { Climb } from './climb.ts';
import { RandomSearch } from './random-search.ts';
import { inTheirFiles } from './script-files.ts';
import type { Study } from './study.ts';

/** The search, and the control that it must beat, which uses nothing that other runs learned. */
export const strategyNames = ['climb', 'random'] as const;

/** How to search over the numbers of a script. */
export interface NumberSearch {
  strategy: (typeof strategyNames)[number];
  /** The most versions to try. */
  maxTries: number;
  random: () => number;
  /** What other runs learned. */
  experience: readonly Lesson[];
}

/** Changes the numbers of the best script while the budget lasts. Returns why it did not, or null. */
export async function searchNumbers(
  workspace: Workspace,
  study: Study,
  { strategy, maxTries, random, experience }: NumberSearch,
): Promise<string | null> {
  const { script } = study.best;
  const { knobs } = script;
  if (knobs.length === 0) return 'I found no number in the script that I could sensibly change.';
  workspace.note({
    Plan: `I can change ${knobs.length} numbers: ${knobs.map(({ name, literal }) => `${name}=${literal}`).join(', ')}.`,
  });
  const search =
    strategy === 'random' ? new RandomSearch(knobs, random) : new Climb(knobs, random, experience);
  // The best version changes during the search, and the latest one predicts run times best.
  const expected = (each: readonly number[]) => secondsWith(study.best, each);
  const triedBefore = study.tally.tried;
  while (study.tally.tried - triedBefore < maxTries) {
    const proposal = search.next((each) => study.affords(expected(each)));
    if (proposal === null || workspace.ended) break;
    if (script.render(proposal.values) === null) {
      search.tell(proposal, 'put back');
      continue;
    }
    const { change, reason, ...version } = proposal;
    const ending = await study.consider({
      ...version,
      script,
      story: study.best.story,
      seconds: expected(proposal.values),
      notes: { Reason: reason, Change: inTheirFiles(change, script.source) },
    });
    search.tell(proposal, ending);
  }
  return null;
}
