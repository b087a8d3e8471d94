import { importCaveat } from '../../schema/index.ts';
import type { OriginalRun } from '../original/original-run.ts';
import type { KnownContents } from './known-contents.ts';
import { keptFiles } from './workspaces.ts';

const maxGaps = 6;

/** Why results of an imported run are not comparable with ours, and what is missing of it. */
export function caveatsOf(run: OriginalRun, contents: KnownContents): string[] {
  const gaps = [...run.gaps, ...unfinishedGap(run), ...snapshotGaps(run, contents)];
  const shown = gaps.slice(0, maxGaps).map((gap) => `partial: ${gap}`);
  return [
    importCaveat,
    ...shown,
    ...(gaps.length > maxGaps ? [`partial: ${gaps.length - maxGaps} more gaps`] : []),
  ];
}

/** The effects of an action that was under way when the recording ended. */
function unfinishedGap({ steps, innerSteps }: OriginalRun): string[] {
  const end = steps.at(-1)?.timestamp ?? 0;
  const after = innerSteps.filter(({ timestamp }) => timestamp > end).length;
  return after === 0 ? [] : [`${after} low-level steps of a step that was not recorded`];
}

function snapshotGaps({ steps, snapshots }: OriginalRun, contents: KnownContents): string[] {
  const without = steps.filter((_, index) => !snapshots.has(index)).length;
  const versions = new Map<string, boolean>();
  for (const listing of snapshots.values()) {
    for (const file of keptFiles(listing)) {
      const isKnown = file.source !== null || contents.find(file) !== null;
      versions.set(`${file.path}\0${file.hash}`, isKnown);
    }
  }
  const known = [...versions.values()].filter((isKnown) => isKnown).length;
  return [
    ...(without > 0 ? [`no workspace after ${without} of ${steps.length} steps`] : []),
    ...(known < versions.size ? [`contents of ${known} of ${versions.size} file versions`] : []),
  ];
}
