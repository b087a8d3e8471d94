import {
  symbol,
  symbolCircle,
  symbolCross,
  symbolDiamond,
  symbolSquare,
  symbolStar,
  symbolTriangle,
} from 'd3-shape';
import type { MarkShape } from './palette.ts';

const kinds = {
  circle: symbolCircle,
  square: symbolSquare,
  triangle: symbolTriangle,
  diamond: symbolDiamond,
  cross: symbolCross,
  star: symbolStar,
};

export function Mark({ shape, x, y, size = 60 }: { shape: MarkShape; x: number; y: number; size?: number }) {
  return <path className="mark" transform={`translate(${x},${y})`} d={symbol(kinds[shape], size)() ?? ''} />;
}
