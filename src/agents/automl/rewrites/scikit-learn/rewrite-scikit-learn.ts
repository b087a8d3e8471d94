import { nodesOf, parsePython, splice, syntaxErrors, textOf } from '../../python-source.ts';
import { lineOf } from '../python-edit.ts';
import type { Rewrite, Rewriter } from '../rewrite.ts';
import type { Candidate } from './candidate.ts';
import { candidatesFor } from './candidates.ts';
import { type Estimator, findEstimators } from './estimators.ts';
import { rewriteOwnLoops, withFitInstead } from './partial-fit.ts';
import { rewriteSettings } from './settings.ts';
import { filled, seedOf, withImports } from './template.ts';
import { isReplaceable, type Usage, usageOf } from './usage.ts';
import { rewriteVectorizers } from './vectorizers.ts';
import { rewriteWrappers } from './wrappers.ts';

const mostOffers = 12;

/**
 * Replaces scikit-learn estimators by others that predict the same, with what they need around them; changes their
 * settings to the usual ones; prepares columns, targets and words in other ways. The most promising first.
 */
export const rewriteScikitLearn: Rewriter = (source, { task, packages }) => {
  if (!/\bsklearn\b/.test(source) || !packages.some((name) => /^(?:sklearn|scikit-learn)$/.test(name)))
    return [];
  if (syntaxErrors(source) > 0) return [];
  const usage = usageOf(source, task);
  const groups = groupsOf(findEstimators(source));
  // The first estimator is often a baseline; the last one makes the submission.
  const share = Math.max(4, Math.ceil(mostOffers / Math.max(1, groups.length)));
  const offers = groups.toReversed().flatMap((group) => {
    const own = [
      ...replacements(source, group, usage),
      ...rewriteWrappers(source, group, usage),
      ...rewriteSettings(source, group, usage),
      ...rewriteOwnLoops(source, group),
    ];
    return best(own, groups.length === 1 ? mostOffers : share);
  });
  const all = best([...offers, ...rewriteVectorizers(source)], mostOffers);
  return all.filter((offer) => offer.source !== source && syntaxErrors(offer.source) === 0);
};

function best(offers: readonly Rewrite[], most: number): Rewrite[] {
  return offers.toSorted((left, right) => right.weight - left.weight).slice(0, most);
}

/** Estimators of one class belong together: for example one for validation and another for all rows. */
function groupsOf(estimators: readonly Estimator[]): Estimator[][] {
  return [...Map.groupBy(estimators, ({ name }) => name).values()].slice(-3);
}

function replacements(source: string, group: readonly Estimator[], usage: Usage): Rewrite[] {
  const [first] = group;
  // In a loop of the script's own, its printed progress disappears with the loop.
  const used = isOwnLoop(source) ? withFitInstead(source, first?.variable ?? null, []) : source;
  if (first === undefined || used === null) return [];
  if (!group.every((estimator) => isReplaceable(source, estimator, used))) return [];
  const takesMissing = /^HistGradient/.test(first.name);
  return candidatesFor({ ...usage, kind: first.kind }).flatMap((candidate): Rewrite[] => {
    const isSame = new RegExp(`^\\{\\w+\\.${first.name}\\}`).test(candidate.code);
    if (isSame || !isUsable(candidate, usage)) return [];
    const needsWrapper =
      usage.hasManyOutputs && first.kind === 'regressor' && !candidate.manyOutputs && !first.isForOneOutput;
    if (needsWrapper && usage.givesWeights) return [];
    const gaps = takesMissing && !candidate.missing;
    const inner = gaps
      ? `{pipeline.make_pipeline}({impute.SimpleImputer}(strategy="median"), ${candidate.code})`
      : candidate.code;
    const code =
      needsWrapper && !isFittedByColumn(source) ? `{multioutput.MultiOutputRegressor}(${inner})` : inner;
    const changed = replaced(source, group, code, usage.isBalanced && first.kind === 'classifier');
    if (changed === null) return [];
    const { name, reason, effort } = candidate;
    const weight = candidate.family === first.family ? candidate.weight * 0.75 : candidate.weight;
    return [
      {
        name: `scikit-learn: ${name}`,
        change: `${first.name} (${linesOf(source, group)}) becomes ${name}.`,
        reason,
        weight,
        effort,
        source: changed,
      },
    ];
  });
}

function isUsable(candidate: Candidate, usage: Usage): boolean {
  if (usage.givesWeights && !candidate.sampleWeights) return false;
  return (
    !usage.needsDecisions || usage.needsProbabilities || /^(?:kernel|linear|boosting)$/.test(candidate.family)
  );
}

/** `for column in targets: model.fit(x, y[column])`: one output at a time. */
function isFittedByColumn(source: string): boolean {
  return nodesOf(parsePython(source), 'ForStatement').some((loop) =>
    /\.\s*fit\s*\(/.test(textOf(source, loop)),
  );
}

function isOwnLoop(source: string): boolean {
  return /\.\s*partial_fit\s*\(/.test(source);
}

function replaced(
  source: string,
  group: readonly Estimator[],
  code: string,
  isBalanced: boolean,
): string | null {
  const written = filled(code, source, { seed: seedOf(source), isBalanced });
  if (written === null) return null;
  const edits = group.map(({ call }) => ({ from: call.from, to: call.to, text: written.code }));
  const text = isOwnLoop(source)
    ? withFitInstead(source, group[0]?.variable ?? null, edits)
    : splice(source, edits);
  return text === null ? null : withImports(text, written.imports);
}

export function linesOf(source: string, group: readonly Estimator[]): string {
  const lines = group.map(({ call }) => lineOf(source, call));
  return lines.length === 1
    ? `line ${lines[0]}`
    : `lines ${lines.slice(0, -1).join(', ')} and ${lines.at(-1)}`;
}
