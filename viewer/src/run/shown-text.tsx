import { type ReactNode, useState } from 'react';
import { type ShownText, TextRest } from '../../../src/schema/index.ts';
import { useSource } from '../data/use-data.ts';
import { showCount } from '../format/numbers.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { stepPath, useStepPlace } from './step-place.ts';

/** A text whose rest is loaded on demand; the caller draws it. */
export function LongText({ shown, children }: { shown: ShownText; children: (text: string) => ReactNode }) {
  const place = useStepPlace();
  const source = useSource();
  const [more, setMore] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const text = shown.text + more;
  const { part } = shown;
  const rest = shown.length - text.length;
  const readOn = (name: string) => {
    source
      .get(
        stepPath(place, 'text'),
        { part: name, from: String(text.length) },
        TextRest,
        new AbortController().signal,
      )
      .then(
        (found) => setMore((before) => before + found.text),
        (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)),
      );
  };
  const raw = part === null ? null : source.download(stepPath(place, 'raw'), { part });
  return (
    <div>
      {shown.unreadable === undefined ? (
        children(text)
      ) : (
        <p className="bad">This text can't be read: {shown.unreadable}</p>
      )}
      <div className="text-tools">
        <CopyButton text={text} />
        {raw === null ? null : (
          <a className="quiet-button" href={raw} download>
            Download
          </a>
        )}
        {rest <= 0 ? null : part === null ? (
          <span className="quiet">{showCount(rest)} more characters are not in this export.</span>
        ) : (
          <button type="button" onClick={() => readOn(part)}>
            Show more ({showCount(rest)} characters left)
          </button>
        )}
        {problem === null ? null : (
          <span className="bad" role="alert">
            {problem}
          </span>
        )}
      </div>
    </div>
  );
}
