import { useMemo } from 'react';
import { codeLines } from './code-tokens.ts';
import type { Language } from './language.ts';

export default function ColouredCode({ text, language }: { text: string; language: Language }) {
  const lines = useMemo(() => codeLines(text, language), [text, language]);
  return (
    <code>
      {lines.map((tokens, number) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
        <span key={number}>
          {tokens.map(({ text: piece, kind }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the tokens of a line are their order
            <span key={index} className={kind}>
              {piece}
            </span>
          ))}
          {'\n'}
        </span>
      ))}
    </code>
  );
}
