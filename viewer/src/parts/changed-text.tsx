import { diffLines } from 'diff';
import { useMemo } from 'react';
import { Words } from './words.tsx';

/** A text of an agent, with the changes since its previous version: a plan grows over many steps. */
export function ChangedText({ before, now }: { before: string; now: string }) {
  const changes = useMemo(() => diffLines(`${before}\n`, `${now}\n`, { maxEditLength: 2000 }), [before, now]);
  if (changes === undefined) return <p className="plain-text">{now}</p>;
  return (
    <div className="changed-text">
      {changes.map(({ value, added, removed }, index) => {
        const text = <Words text={value.replace(/\n$/, '')} />;
        // biome-ignore lint/suspicious/noArrayIndexKey: the changes of a text are their order
        if (added) return <ins key={index}>{text}</ins>;
        // biome-ignore lint/suspicious/noArrayIndexKey: the changes of a text are their order
        if (removed) return <del key={index}>{text}</del>;
        // biome-ignore lint/suspicious/noArrayIndexKey: the changes of a text are their order
        return <span key={index}>{text}</span>;
      })}
    </div>
  );
}
