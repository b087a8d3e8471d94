import { Fragment } from 'react';

/** A line as it is written for terminals: what stands between backticks is code. */
export function Words({ text }: { text: string }) {
  return text.split(/(?<!`)`([^`\n]+)`(?!`)/).map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: parts are their order
    index % 2 === 1 ? <code key={index}>{part}</code> : <Fragment key={index}>{part}</Fragment>,
  );
}
