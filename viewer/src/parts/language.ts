export type Language = 'python' | 'json';

/** The language of a file, by its name; null if it can't be coloured. */
export function languageOf(fileName: string): Language | null {
  if (/\.pyi?$/i.test(fileName)) return 'python';
  return /\.(json|jsonl|ipynb)$/i.test(fileName) ? 'json' : null;
}
