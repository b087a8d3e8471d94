import type { ReactNode } from 'react';

/** A drawing as wide as its card. Its links can be focused, so it is a group rather than an image. */
export function PlotSvg({
  width,
  height,
  label,
  children,
}: {
  width: number;
  height: number;
  label: string;
  children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing is no fieldset
    <svg className="plot" viewBox={`0 0 ${width} ${height}`} role="group" aria-label={label}>
      {children}
    </svg>
  );
}
