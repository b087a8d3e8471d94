import { useState } from 'react';

/** Copies a text to the clipboard, and says so. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [said, setSaid] = useState('');
  const say = (words: string) => {
    setSaid(words);
    setTimeout(() => setSaid(''), 2000);
  };
  return (
    <>
      <button
        type="button"
        className="quiet-button"
        onClick={() => {
          navigator.clipboard.writeText(text).then(
            () => say('copied'),
            () => say('the browser does not allow it'),
          );
        }}
      >
        {label}
      </button>
      <span className="quiet" role="status">
        {said}
      </span>
    </>
  );
}
