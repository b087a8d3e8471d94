import type { ExperienceEntry } from '../schema/index.ts';

/** The usual constants of BM25: how quickly repeated words stop to count, and how much long entries are penalised. */
const saturation = 1.2;
const lengthShare = 0.75;

/**
 * The entries that share words with a text, best first, by Okapi BM25 (Robertson and Zaragoza, 2009); ties by id. The
 * order of the entries does not matter.
 */
export function searchEntries(
  entries: readonly ExperienceEntry[],
  text: string,
): { entry: ExperienceEntry; score: number }[] {
  const wanted = [...new Set(wordsOf(text))];
  const documents = entries.map((entry) => ({ entry, words: wordsOf(textOf(entry)) }));
  const meanLength = documents.reduce((sum, { words }) => sum + words.length, 0) / documents.length;
  const rarity = new Map(wanted.map((word) => [word, rarityOf(word, documents)]));
  return documents
    .map(({ entry, words }) => {
      const score = wanted.reduce((sum, word) => {
        const count = words.filter((each) => each === word).length;
        const length = 1 - lengthShare + (lengthShare * words.length) / meanLength;
        const weight = (count * (saturation + 1)) / (count + saturation * length);
        return sum + (rarity.get(word) ?? 0) * weight;
      }, 0);
      return { entry, score };
    })
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || (one.entry.id < other.entry.id ? -1 : 1));
}

/** Positive even for a word that every entry contains. */
function rarityOf(word: string, documents: readonly { words: readonly string[] }[]): number {
  const holders = documents.filter(({ words }) => words.includes(word)).length;
  return Math.log(1 + (documents.length - holders + 0.5) / (holders + 0.5));
}

function textOf({ fingerprint, change, outcome, failure, agent }: ExperienceEntry): string {
  const { task, category, modality, metric, target, libraries } = fingerprint;
  return [
    ...[task, category, modality, metric.name, target?.kind, ...(target?.columns ?? []), ...libraries],
    ...[change.kind === 'edit' ? '' : change.name, change.text, outcome, failure, agent],
  ].join(' ');
}

/** `learning_rate` and `learningRate` contain the words learning and rate. */
function wordsOf(text: string): string[] {
  const parted = text.replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2').toLowerCase();
  return parted.match(/[\p{L}\d]+/gu) ?? [];
}
