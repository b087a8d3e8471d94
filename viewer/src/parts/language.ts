export type Language = 'python' | 'json';

/** The language of a file, by its name; null where its colours are not known. */
export function languageOf(fileName: string): Language | null {
  if (/\.pyi?$/i.test(fileName)) return 'python';
  return /\.(json|jsonl|ipynb)$/i.test(fileName) ? 'json' : null;
}
