import { lazy, Suspense } from 'react';

const MarkdownText = lazy(() => import('./markdown-text.tsx'));

/** Markdown of an agent or a task: without HTML, pictures and links. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown">
      <Suspense fallback={<p className="plain-text">{text}</p>}>
        {text.length > 100_000 ? <p className="plain-text">{text}</p> : <MarkdownText text={text} />}
      </Suspense>
    </div>
  );
}
