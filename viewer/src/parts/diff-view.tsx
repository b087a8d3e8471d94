import { useMemo } from 'react';
import { Scroll } from './scroll.tsx';
import { type DiffLine, diffHunks } from './unified-diff.ts';

const signs = { same: ' ', added: '+', removed: '−', note: '' };
const words = { same: '', added: 'added', removed: 'removed', note: '' };

/** A unified diff of one file. Signs and words repeat what colours show. */
export function DiffView({ unified, name }: { unified: string; name: string }) {
  const hunks = useMemo(() => diffHunks(unified), [unified]);
  if (hunks.length === 0) return <pre className="code">{unified === '' ? 'No line differs.' : unified}</pre>;
  return (
    <Scroll className="diff" label={`changes of ${name}`}>
      <table>
        <thead className="visually-hidden">
          <tr>
            <th scope="col">before</th>
            <th scope="col">after</th>
            <th scope="col">line</th>
          </tr>
        </thead>
        {hunks.map((hunk) => (
          <tbody key={hunk.title}>
            <tr className="diff-hunk">
              <td colSpan={3}>{hunk.title}</td>
            </tr>
            {hunk.lines.map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
              <Line key={index} {...line} />
            ))}
          </tbody>
        ))}
      </table>
    </Scroll>
  );
}

function Line({ kind, before, after, text }: DiffLine) {
  return (
    <tr className={`diff-${kind}`}>
      <td className="diff-number">{before}</td>
      <td className="diff-number">{after}</td>
      <td>
        <span className="diff-sign" aria-hidden="true">
          {signs[kind]}
        </span>
        {words[kind] === '' ? null : <span className="visually-hidden">{words[kind]}: </span>}
        {text}
      </td>
    </tr>
  );
}
