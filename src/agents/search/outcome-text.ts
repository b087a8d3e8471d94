import { type Attempt, lineage, type SearchTree } from './search-tree.ts';

/** The outcome of a search, in sentences. `said`: what else is to be told, such as how the version was selected. */
export function outcomeText({ attempts, best }: SearchTree, root: Attempt, said: readonly string[]): string {
  const starter = root.measured === null ? root.why : scoresOf(root);
  const chosen =
    best === null
      ? 'No version could be measured, so the output of the starter is submitted.'
      : best === root
        ? 'No version was better by more than the noise, so the starter is submitted.'
        : `Handed in is version ${best.id} (${best.operator}), which printed ${scoresOf(best)}: ${changesOf(best)}.`;
  const tried = attempts.slice(1);
  const of = (wanted: Attempt['status']) => tried.filter(({ status }) => status === wanted).length;
  return [
    `Starter: ${starter}.`,
    chosen,
    ...said,
    `Versions tried: ${tried.length}; kept: ${of('kept')}; failed: ${of('failed')}.`,
    "The printed numbers are the scripts' own measurements.",
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

function scoresOf({ measured }: Attempt): string {
  if (measured === null) return 'no score';
  const { line, evidence } = measured;
  return `"${line}"${evidence.second === null ? '' : ` (second run ${Number(evidence.second.toPrecision(4))})`}`;
}

/** What was changed since the starter. */
function changesOf(attempt: Attempt): string {
  const path = lineage(attempt).filter(({ parent }) => parent !== null);
  return path
    .toReversed()
    .map(({ change }) => change.replace(/\.$/, ''))
    .join('; ');
}
