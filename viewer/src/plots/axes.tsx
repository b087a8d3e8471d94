/** What both axes need of a d3 scale. */
export interface AxisScale {
  (value: number): number;
  ticks(count?: number): number[];
}

interface Axis {
  scale: AxisScale;
  show: (value: number) => string;
  label: string;
  ticks?: number;
}

export interface Frame {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export const usualFrame: Frame = { width: 480, height: 260, left: 56, right: 16, top: 12, bottom: 40 };

export function BottomAxis({ scale, show, label, ticks = 6, frame }: Axis & { frame: Frame }) {
  const y = frame.height - frame.bottom;
  return (
    <g className="axis">
      <line x1={frame.left} x2={frame.width - frame.right} y1={y} y2={y} />
      {scale.ticks(ticks).map((value) => (
        <g key={value} transform={`translate(${scale(value)},${y})`}>
          <line y2={4} />
          <text y={16} textAnchor="middle">
            {show(value)}
          </text>
        </g>
      ))}
      <text x={(frame.left + frame.width - frame.right) / 2} y={frame.height - 6} textAnchor="middle">
        {label}
      </text>
    </g>
  );
}

export function LeftAxis({ scale, show, label, ticks = 5, frame }: Axis & { frame: Frame }) {
  return (
    <g className="axis">
      {scale.ticks(ticks).map((value) => (
        <g key={value} transform={`translate(${frame.left},${scale(value)})`}>
          <line className="grid-line" x2={frame.width - frame.right - frame.left} />
          <text x={-6} dy="0.32em" textAnchor="end">
            {show(value)}
          </text>
        </g>
      ))}
      <text x={4} y={9} textAnchor="start">
        {label}
      </text>
    </g>
  );
}
