import type { ReactNode, RefObject } from 'react';

interface ScrollProps {
  className: string;
  /** What is in it, for who does not see it. */
  label: string;
  box?: RefObject<HTMLDivElement | null>;
  children: ReactNode;
}

/** What scrolls by itself. It takes part in the order of keys, or nobody without a mouse could scroll it. */
export function Scroll({ className, label, box, children }: ScrollProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <div className={className} role="group" aria-label={label} tabIndex={0} ref={box}>
      {children}
    </div>
  );
}
