import { argumentsOf } from '../../arguments.ts';
import { plainName } from '../../priors.ts';
import { nodesOf, parsePython, type SyntaxNode, splice, syntaxErrors, textOf } from '../../python-source.ts';
import { fullNameOf, importedNames, lineOf } from '../python-edit.ts';
import type { Rewrite, Rewriter } from '../rewrite.ts';
import { withKeywords } from '../scikit-learn/estimators.ts';
import { type KnownFlag, knownFlags } from './known-flags.ts';
import { ownFlags } from './own-flags.ts';

const mostOffers = 5;
const ownWeight = 0.2;

/** Booleans that are turned over, one at a time: those of libraries whose meaning is known, and the script's own. */
export const rewriteFlags: Rewriter = (source) => {
  if (syntaxErrors(source) > 0) return [];
  const offers = [...turnedOwn(source), ...knownFlags.flatMap((flag) => turnedKnown(source, flag))];
  return offers
    .filter((offer) => syntaxErrors(offer.source) === 0)
    .sort((left, right) => right.weight - left.weight)
    .slice(0, mostOffers);
};

/** All places with one name are one flag. */
function turnedOwn(source: string): Rewrite[] {
  const groups = Map.groupBy(ownFlags(source), ({ name }) => plainName(name));
  return [...groups].flatMap(([name, places]): Rewrite[] => {
    const [first] = places;
    if (first === undefined) return [];
    const before = textOf(source, first.value);
    if (places.some(({ value }) => textOf(source, value) !== before)) return [];
    const after = before === 'True' ? 'False' : 'True';
    return [
      {
        name: `flags: ${name}`,
        change: `${first.name} (line ${lineOf(source, first.value)}) is ${after} instead of ${before}.`,
        reason: 'the script itself foresees both, and has tried neither on this data.',
        weight: ownWeight,
        effort: 1.2,
        source: splice(
          source,
          places.map(({ value: { from, to } }) => ({ from, to, text: after })),
        ),
      },
    ];
  });
}

/** All calls of a kind change together; none where they disagree. */
function turnedKnown(source: string, flag: KnownFlag): Rewrite[] {
  const { of, keyword, needs, forbids, reason, weight } = flag;
  const imports = importedNames(source);
  const calls = nodesOf(parsePython(source), 'CallExpression').flatMap((call) => {
    const full = fullNameOf(source, call.firstChild, imports) ?? '';
    return of.test(full) ? [{ call, full }] : [];
  });
  const now = new Set(calls.map(({ call }) => flagOf(source, call, flag)));
  const [before] = now;
  const [first] = calls;
  if (first === undefined || now.size !== 1 || typeof before !== 'boolean') return [];
  const after = before ? 'False' : 'True';
  const edits = calls.flatMap(({ call }) => {
    const written = textOf(source, call);
    if (needs?.test(written) === false || forbids?.test(written) === true) return [];
    const text = withKeywords(source, call, { [keyword]: after });
    return text === null ? [] : [{ from: call.from, to: call.to, text }];
  });
  if (edits.length < calls.length) return [];
  const name = first.full.split('.').at(-1) ?? first.full;
  const library = first.full.startsWith('sklearn') ? 'scikit-learn' : 'torch';
  return [
    {
      // By the same name in both directions: what was turned over is not turned back.
      name: `${library}: other ${keyword}`,
      change: `${name} (line ${lineOf(source, first.call)}) gets ${keyword}=${after}.`,
      ...{ reason, weight, effort: 1.1, source: splice(source, edits) },
    },
  ];
}

/** What a call gives to a flag, or what it is by itself; null where that is no plain boolean. */
function flagOf(source: string, call: SyntaxNode, { keyword, usually }: KnownFlag): boolean | null {
  const given = argumentsOf(source, call).find((argument) => argument.keyword === keyword)?.value;
  if (given === undefined) return usually;
  return given.name === 'Boolean' ? textOf(source, given) === 'True' : null;
}
