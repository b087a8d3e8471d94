import { Fragment } from 'react';

/** A line written for terminals: text between backticks is shown as code. */
export function Words({ text }: { text: string }) {
  return text.split(/(?<!`)`([^`\n]+)`(?!`)/).map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: parts are their order
    index % 2 === 1 ? <code key={index}>{part}</code> : <Fragment key={index}>{part}</Fragment>,
  );
}
