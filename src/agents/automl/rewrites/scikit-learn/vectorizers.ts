import { nodesOf, parsePython, splice, textOf } from '../../python-source.ts';
import { fullNameOf, importedNames, lineOf } from '../python-edit.ts';
import type { Rewrite } from '../rewrite.ts';
import { keywordOf, withKeywords } from './estimators.ts';
import { filled, withImports } from './template.ts';

const tfidf = '{feature_extraction.text.TfidfVectorizer}';
const characters = `${tfidf}(analyzer="char_wb", ngram_range=(2, 5), min_df=2, sublinear_tf=True)`;
const words = `${tfidf}(ngram_range=(1, 2), min_df=2, sublinear_tf=True)`;

/** Changes what is counted in texts. */
export function rewriteVectorizers(source: string): Rewrite[] {
  const imports = importedNames(source);
  const calls = nodesOf(parsePython(source), 'CallExpression').filter((call) =>
    /^sklearn\.feature_extraction\.text\.(?:Tfidf|Count)Vectorizer$/.test(
      fullNameOf(source, call.firstChild, imports) ?? '',
    ),
  );
  const [call] = calls;
  if (call === undefined || calls.length > 1) return [];
  const isTfidf = /Tfidf/.test(fullNameOf(source, call.firstChild, imports) ?? '');
  const isPlain =
    !/\b(?:vocabulary_|get_feature_names\w*|idf_|build_analyzer|inverse_transform|vocabulary)\b/.test(source);
  const hasOwnAnalysis = ['analyzer', 'tokenizer', 'preprocessor', 'token_pattern'].some(
    (name) => keywordOf(call, name, source) !== null,
  );
  const offers: Rewrite[] = [];
  const offer = (name: string, reason: string, weight: number, effort: number, code: string | null) => {
    const written = code === null ? null : filled(code, source, { seed: '0', isBalanced: false });
    if (written === null) return;
    const text = splice(source, [{ from: call.from, to: call.to, text: written.code }]);
    const change = `the texts (line ${lineOf(source, call)}) are counted as ${name}.`;
    offers.push({
      name: `scikit-learn: ${name}`,
      change,
      reason,
      weight,
      effort,
      source: withImports(text, written.imports),
    });
  };
  const keywords = { ngram_range: '(1, 2)', min_df: '2', ...(isTfidf ? { sublinear_tf: 'True' } : {}) };
  const isPaired = /\(1,\s*[23]\)/.test(textOf(source, call));
  if (!isPaired)
    offer(
      'words and pairs of words',
      'pairs of words tell what single words leave open, such as "not good".',
      0.85,
      2,
      withKeywords(source, call, keywords),
    );
  if (isTfidf && keywordOf(call, 'sublinear_tf', source) === null) {
    offer(
      'words by the logarithm of their counts',
      'a word that stands ten times says little more than one that stands twice.',
      0.6,
      1,
      withKeywords(source, call, { sublinear_tf: 'True' }),
    );
  }
  if (!isPlain || hasOwnAnalysis) return offers;
  if (!isTfidf) offer('pairs of words by how rare they are', 'frequent words say little.', 0.8, 2, words);
  offer(
    'words and parts of words',
    'parts of words bear endings, joined words and misspelling.',
    0.83,
    5,
    `{pipeline.make_union}(${words}, ${characters})`,
  );
  offer('parts of words', 'parts of words bear endings, joined words and misspelling.', 0.7, 4, characters);
  return offers;
}
