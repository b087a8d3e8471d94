import { useMemo } from 'react';
import { ansiPieces } from './ansi-pieces.ts';

/** Output of a program, with its terminal colours. */
export function AnsiText({ text }: { text: string }) {
  const pieces = useMemo(() => ansiPieces(text), [text]);
  return pieces.map((piece, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text are their order
    <span key={index} className={piece.classes.join(' ')}>
      {piece.text}
    </span>
  ));
}
