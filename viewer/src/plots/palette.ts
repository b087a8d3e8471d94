/** Colours of agents: class names of the style sheet. Shapes and dashes differ too, so that colours are not needed. */
export const markShapes = ['circle', 'square', 'triangle', 'diamond', 'cross', 'star'] as const;
export type MarkShape = (typeof markShapes)[number];

export interface SeriesStyle {
  /** `series-0` … `series-7`. */
  className: string;
  shape: MarkShape;
  /** SVG's `stroke-dasharray`. */
  dashes: string;
}

const colours = 8;
const dashes = ['none', '6 3', '2 3', '8 3 2 3', '4 2'];

/** The same agent looks the same in every plot of a page. */
export function seriesStyle(index: number): SeriesStyle {
  return {
    className: `series-${index % colours}`,
    shape: markShapes[index % markShapes.length] ?? 'circle',
    dashes: dashes[index % dashes.length] ?? 'none',
  };
}

/** The shade of a share, one of six: `heat-0` … `heat-5`. Negative values have their own shades. */
export function shadeOf(value: number | null, most: number): string {
  if (value === null) return 'heat-none';
  if (value < 0) return value < -0.1 ? 'heat-low-2' : 'heat-low-1';
  const level = most <= 0 ? 0 : Math.ceil(Math.min(1, value / most) * 5);
  return `heat-${level}`;
}
