import { type Attempt, countsOf, type SearchTree } from './search-tree.ts';

/** The outcome of a search, in sentences. `selection`: how the submitted version was selected; may be empty. */
export function outcomeText({ attempts, best }: SearchTree, root: Attempt, selection: string): string {
  const starter = root.measured === null ? root.why : root.measured.line;
  const chosen =
    best === null
      ? 'No version could be measured, so the output of the starter is submitted.'
      : best === root
        ? 'No version was better by more than the noise, so the starter is submitted.'
        : `Handed in is version ${best.id} (${best.operator}), which printed "${best.measured?.line}": ${best.change}.`;
  return [
    `Starter: ${starter}.`,
    chosen,
    selection,
    `Attempts: ${countsOf(attempts.slice(1))}`,
    "The printed numbers are the scripts' own measurements.",
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}
