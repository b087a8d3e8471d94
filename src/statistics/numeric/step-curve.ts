/** A value that applies from a position on, until the next point. */
export interface CurvePoint {
  at: number;
  value: number;
}

/**
 * The curve's heights at ascending positions: for each, the value of the last point at or before it, or `before` if
 * there is none. Points by position.
 */
export function heightsAt(
  points: readonly CurvePoint[],
  positions: readonly number[],
  before: number,
): number[] {
  let next = 0;
  let height = before;
  return positions.map((position) => {
    for (let point = points[next]; point !== undefined && point.at <= position; point = points[next]) {
      height = point.value;
      next += 1;
    }
    return height;
  });
}

/**
 * Mean height of the curve from 0 to `end`: the area under it divided by its width. Points by position; before the
 * first one the height is `before`.
 * @returns the height at 0 if `end` is 0
 */
export function meanHeight(points: readonly CurvePoint[], end: number, before: number): number {
  if (end <= 0) return heightsAt(points, [0], before)[0] ?? before;
  let area = 0;
  let [from, height] = [0, before];
  for (const { at, value } of points) {
    const position = Math.min(end, Math.max(from, at));
    area += height * (position - from);
    [from, height] = [position, at <= end ? value : height];
  }
  return (area + height * (end - from)) / end;
}
