import { line } from 'd3-shape';
import { type KeyboardEvent, useMemo } from 'react';
import type { Timeline } from '../../../src/schema/index.ts';
import { showPlural, showScore, showSeconds, showWords } from '../format/numbers.ts';
import { actionKinds, kindWords } from './action-kind.ts';
import { barHeight, timelineBins } from './timeline-bins.ts';
import { curveRange, type TimelineCurve, type TimelinePoint, timelineCurve } from './timeline-curve.ts';

interface TimelineViewProps {
  timeline: Timeline;
  step: number | null;
  direction: 'maximize' | 'minimize';
  /** The other run beside it: both are drawn on one scale. */
  beside?: Timeline;
  label: string;
  onStep: (step: number) => void;
}

const width = 1000;
const scoreTop = 6;
const scoreHeight = 34;
const barsTop = 48;
const barsHeight = 44;
const warningsTop = 96;
/** The height is the same without scores, which may come later, so that nothing moves then. */
const timelineHeight = 96;

/** The timeline of a run: all its steps as one picture. A click or the arrow keys go to a step. */
export function TimelineView({ timeline, step, direction, beside, label, onStep }: TimelineViewProps) {
  const bins = useMemo(() => timelineBins(timeline, 250), [timeline]);
  const longest = useMemo(() => Math.max(0, ...bins.map(({ duration }) => duration)), [bins]);
  const count = timeline.action.length;
  const last = timeline.from + count - 1;
  const each = width / Math.max(1, count);
  const place = (ofStep: number) => (ofStep - timeline.from) * each;
  const curve = useMemo(() => timelineCurve(timeline, direction, beside), [timeline, direction, beside]);
  const range = useMemo(() => {
    const other = beside === undefined ? null : timelineCurve(beside, direction, timeline);
    return curveRange([curve, other?.kind === curve?.kind ? other : null]);
  }, [curve, timeline, beside, direction]);
  const top = curve === null ? barsTop - 6 : 0;
  const go = (target: number) => onStep(Math.min(last, Math.max(timeline.from, target)));
  const keys: Record<string, number> = {
    ArrowRight: (step ?? 0) + 1,
    ArrowLeft: (step ?? 2) - 1,
    Home: timeline.from,
    End: last,
    PageDown: (step ?? 0) + 10,
    PageUp: (step ?? 0) - 10,
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const target = keys[event.key];
    if (target === undefined) return;
    event.preventDefault();
    go(target);
  };
  if (count === 0) return <p className="quiet timeline-empty">No step was taken yet.</p>;
  return (
    <div
      className="timeline"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={timeline.from}
      aria-valuemax={last}
      aria-valuenow={step ?? timeline.from}
      aria-valuetext={stepWords(timeline, step)}
      onKeyDown={onKeyDown}
      onClick={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        go(timeline.from + Math.floor(((event.clientX - box.left) / box.width) * count));
      }}
    >
      <svg
        viewBox={`0 ${top} ${width} ${110 - top}`}
        preserveAspectRatio="none"
        height={timelineHeight}
        aria-hidden="true"
      >
        {curve === null ? null : (
          <ScoreLine curve={curve} range={range} place={(ofStep) => Math.max(0, place(ofStep + 0.5))} />
        )}
        {step === null || step < timeline.from || step > last ? null : (
          <rect
            className="timeline-here"
            x={place(step)}
            y={top}
            width={Math.max(each, 3)}
            height={110 - top}
          />
        )}
        {bins.map(({ first, last: end, kind, bad, running, duration, warnings }) => {
          const x = place(first);
          const wide = each * (end - first + 1);
          const gap = wide > 6 ? 1.5 : wide > 3 ? 0.5 : 0;
          const high = barsHeight * barHeight(duration, longest);
          return (
            <g key={first}>
              <title>
                {end === first
                  ? stepWords(timeline, first)
                  : `steps ${first} to ${end}: ${showPlural(warnings, 'warning')}`}
              </title>
              <rect className="timeline-hit" x={x} y={top} width={wide} height={110 - top} />
              <rect
                className={`timeline-bar kind-${kind}${running ? ' timeline-running' : ''}`}
                x={x + gap}
                y={barsTop + barsHeight - high}
                width={wide - 2 * gap}
                height={high}
              />
              {bad ? (
                <rect
                  className="timeline-bad"
                  x={x + gap}
                  y={barsTop + barsHeight - 5}
                  width={wide - 2 * gap}
                  height={5}
                />
              ) : null}
              {warnings === 0 ? null : (
                <path
                  className="timeline-warning"
                  d={`M${x + wide / 2 - Math.min(4, wide / 2)},${warningsTop + 10}h${Math.min(8, wide)}l${-Math.min(4, wide / 2)},-8z`}
                />
              )}
            </g>
          );
        })}
      </svg>
    </div>
  );
}

interface ScoreLineProps {
  curve: TimelineCurve;
  range: { low: number; high: number };
  place: (step: number) => number;
}

/** The hidden score after each graded step, or the scripts' own metric; up is better. */
function ScoreLine({ curve, range: { low, high }, place }: ScoreLineProps) {
  const y = (value: number) => scoreTop + scoreHeight * (1 - (value - low) / (high - low || 1));
  const path = line<TimelinePoint>()
    .x(({ step }) => place(step))
    .y(({ value }) => y(value));
  const { kind, points, baseline } = curve;
  return (
    <g className={`timeline-${kind}`}>
      {baseline === null ? null : (
        <line className="timeline-baseline" x1={0} x2={width} y1={y(baseline)} y2={y(baseline)} />
      )}
      <path className="timeline-score" d={path([...points]) ?? ''} />
      {points.map(({ step, value, words, final }) => (
        <rect
          key={step}
          className={final ? 'timeline-grade timeline-final' : 'timeline-grade'}
          x={place(step) - 3}
          y={y(value) - 2.5}
          width={6}
          height={5}
        >
          <title>
            after step {step}: {words}
          </title>
        </rect>
      ))}
    </g>
  );
}

/** A step in words: `step 12, Edit Script (AI), failed, 3.2 s, 2 warnings`. */
export function stepWords(timeline: Timeline, step: number | null): string {
  if (step === null) return 'no step chosen';
  const index = step - timeline.from;
  const action = timeline.actions[timeline.action[index] ?? -1];
  if (action === undefined) return `step ${step}`;
  const status = timeline.statuses[timeline.status[index] ?? -1] ?? '';
  const warnings = timeline.warnings.filter((warning) => warning.step === step).length;
  const grade = timeline.grades.find((known) => known.step === step);
  const reading = timeline.readings.find((known) => known.step === step);
  const summary = timeline.summaries.find((known) => known.step === step)?.text ?? '';
  return [
    `step ${step}`,
    action,
    ...(summary === '' ? [] : [summary]),
    showWords(status),
    showSeconds((timeline.duration_ms[index] ?? 0) / 1000),
    ...(warnings > 0 ? [showPlural(warnings, 'warning')] : []),
    ...(grade?.score === null || grade === undefined ? [] : [`score ${showScore(grade.score)}`]),
    ...(reading === undefined ? [] : [`${reading.metric} ${showScore(reading.printed)}`]),
  ].join(', ');
}

/** Names the direction, because up is better in the picture but perhaps not in the numbers. */
function ownMetric({ readings }: Timeline): string {
  const turned = readings.some(({ printed, value }) => printed !== value);
  return `${readings[0]?.metric ?? ''} (${turned ? 'lower' : 'higher'} is better)`;
}

/** @param beside the other run, if two are shown: each timeline may have its own kind of curve */
export function TimelineLegend({ timeline, beside }: { timeline: Timeline; beside?: Timeline }) {
  const curves = [
    timelineCurve(timeline, 'maximize', beside)?.kind,
    beside && timelineCurve(beside, 'maximize', timeline)?.kind,
  ];
  const kinds = [...new Set(curves)].filter((kind) => kind !== undefined);
  const own = timeline.readings.length > 0 ? timeline : (beside ?? timeline);
  return (
    <ul className="legend timeline-legend">
      {actionKinds
        .filter((kind) => kind !== 'other')
        .map((kind) => (
          <li key={kind}>
            <span className={`swatch kind-${kind}`} aria-hidden="true" />
            {kindWords[kind]}
          </li>
        ))}
      <li>
        <span className="swatch swatch-bad" aria-hidden="true" />
        did not succeed
      </li>
      <li>
        <span aria-hidden="true" className="warning-sign">
          ▲
        </span>{' '}
        warning
      </li>
      {kinds.map((curve) => (
        <li key={curve}>
          <span className={`swatch swatch-score swatch-${curve}`} aria-hidden="true" />
          {curve === 'validation'
            ? `own validation: ${ownMetric(own)}, up is better`
            : 'hidden score, up is better; dashed: baseline'}
        </li>
      ))}
      <li className="quiet">height: duration</li>
    </ul>
  );
}
