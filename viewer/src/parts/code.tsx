import { lazy, Suspense } from 'react';
import type { Language } from './language.ts';
import { Scroll } from './scroll.tsx';

const ColouredCode = lazy(() => import('./coloured-code.tsx'));

/** Code with syntax colours; without them until they are loaded. */
export function Code({ text, language, label }: { text: string; language: Language | null; label: string }) {
  const plain = <code>{text}</code>;
  return (
    <Scroll className="code" label={label}>
      <pre>
        {language === null ? (
          plain
        ) : (
          <Suspense fallback={plain}>{<ColouredCode text={text} language={language} />}</Suspense>
        )}
      </pre>
    </Scroll>
  );
}
