import type { ReactNode, RefObject } from 'react';

interface ScrollProps {
  className: string;
  /** A description for people who don't see it. */
  label: string;
  box?: RefObject<HTMLDivElement | null>;
  children: ReactNode;
}

/** An area that scrolls. It can be focused, because otherwise nobody without a mouse could scroll it. */
export function Scroll({ className, label, box, children }: ScrollProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <div className={className} role="group" aria-label={label} tabIndex={0} ref={box}>
      {children}
    </div>
  );
}
