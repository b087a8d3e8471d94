import type { Lesson } from '../../schema/index.ts';
import type { Workspace } from '../common/workspace.ts';
import { secondsWith } from './candidate.ts';
import { Climb } from './climb.ts';
import { RandomSearch } from './random-search.ts';
import { literalOf } from './scales.ts';
import { inTheirFiles } from './script-files.ts';
import type { Ending, Proposal } from './strategy.ts';
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
  const { script, values } = study.best;
  const { knobs } = script;
  if (knobs.length === 0) return 'I found no number in the script that I could sensibly change.';
  workspace.note({
    Plan: `I can change ${knobs.length} numbers: ${knobs.map((knob, place) => `${knob.name}=${literalOf(knob, values[place] ?? knob.value)}`).join(', ')}.`,
  });
  const search =
    strategy === 'random' ? new RandomSearch(knobs, random) : new Climb(knobs, random, experience, values);
  const triedBefore = study.tally.tried;
  while (study.tally.tried - triedBefore < maxTries) {
    const proposal = search.next((each) => study.affords(secondsWith(study.best, each)));
    if (proposal === null || workspace.ended) break;
    search.tell(proposal, await consider(study, proposal));
  }
  return null;
}

/** Trains once for longer if the time is enough for a few runs only: no other change is as sure to help. */
export async function trainLonger(study: Study, random: () => number): Promise<void> {
  const climb = new Climb(study.best.script.knobs, random);
  const proposal = climb.longer((each) => study.affords(secondsWith(study.best, each)), mostAtFirst);
  if (proposal !== null) await consider(study, proposal);
}

/** Leaves time for another change of what trains longer. */
const mostAtFirst = 2;

async function consider(study: Study, { change, reason, ...version }: Proposal): Promise<Ending> {
  const { script, story } = study.best;
  if (script.render(version.values) === null) return 'put back';
  return await study.consider({
    ...{ ...version, script, story, seconds: secondsWith(study.best, version.values) },
    notes: { Reason: reason, Change: inTheirFiles(change, script.source) },
  });
}
