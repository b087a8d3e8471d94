import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useMemo, useRef } from 'react';
import type { Timeline } from '../../../src/schema/index.ts';
import { showPlural, showScore, showSeconds, showWords } from '../format/numbers.ts';
import { Words } from '../parts/words.tsx';
import { actionKind } from './action-kind.ts';
import { isWell } from './timeline-bins.ts';

interface StepListProps {
  timeline: Timeline;
  /** Null: the page about the run as a whole. */
  step: number | null;
  hrefOf: (step: number | null) => string;
}

/** A step has a second line with its summary, which may come later. */
const [stepHeight, otherHeight] = [44, 28];

/** One line per step. Only those in view are drawn, so that runs of any length scroll. */
export function StepList({ timeline, step, hrefOf }: StepListProps) {
  const box = useRef<HTMLElement>(null);
  const warnings = useMemo(
    () => Map.groupBy(timeline.warnings, (warning) => warning.step),
    [timeline.warnings],
  );
  const scores = useMemo(
    () => new Map(timeline.grades.map((grade) => [grade.step, grade.score])),
    [timeline.grades],
  );
  const readings = useMemo(
    () => new Map(timeline.readings.map(({ step: ofStep, printed }) => [ofStep, printed])),
    [timeline.readings],
  );
  const summaries = useMemo(() => summariesByStep(timeline), [timeline]);
  const replaced = useMemo(() => replacedByStep(timeline), [timeline]);
  // The run as a whole and the starter come before the steps; what was written after the last one comes after them.
  const count = timeline.action.length + 2 + (timeline.has_tail ? 1 : 0);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: (index) => (isStep(timeline, index - 1) ? stepHeight : otherHeight),
    overscan: 8,
    initialRect: { width: 300, height: 600 },
  });
  const chosen = step === null ? 0 : step + 1;
  useEffect(() => {
    virtual.scrollToIndex(chosen, { align: 'auto' });
  }, [virtual, chosen]);
  return (
    <nav className="step-list" ref={box} aria-label="Steps">
      <ol style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const ofStep = index === 0 ? null : index - 1;
          return (
            <StepLine
              key={index}
              timeline={timeline}
              step={ofStep}
              start={start}
              chosen={ofStep === step}
              place={index + 1}
              total={count}
              href={hrefOf(ofStep)}
              warnings={warnings.get(ofStep ?? -1)?.length ?? 0}
              score={scores.get(ofStep ?? -1) ?? null}
              reading={readings.get(ofStep ?? -1) ?? null}
              summary={summaries.get(ofStep ?? -1) ?? null}
              replaced={replaced.get(ofStep ?? -1) ?? null}
            />
          );
        })}
      </ol>
    </nav>
  );
}

/** The summaries of steps, as far as they are known. */
function summariesByStep({ summaries }: Timeline): Map<number, string> {
  return new Map(summaries.flatMap(({ step, text }) => (text === '' ? [] : [[step, text]])));
}

/** What the agent wrote, of steps that did something else. */
function replacedByStep({ replaced, actions }: Timeline): Map<number, string> {
  return new Map(replaced.map(({ step, action }) => [step, actions[action] ?? '']));
}

function isStep({ from, action }: Timeline, step: number | null): boolean {
  return step !== null && step >= from && step < from + action.length;
}

interface StepLineProps extends StepWordsProps {
  /** Pixels from the top of the list. */
  start: number;
  chosen: boolean;
  /** Its position among all lines, from 1. */
  place: number;
  total: number;
  href: string;
}

/**
 * Drawn once while the list scrolls. A plain link, because the router's own would compute its address in each frame.
 */
const StepLine = memo(function StepLine({ start, chosen, place, total, href, ...words }: StepLineProps) {
  return (
    <li style={{ transform: `translateY(${start}px)` }} aria-setsize={total} aria-posinset={place}>
      <a
        href={`#${href}`}
        className={`step-line${chosen ? ' step-chosen' : ''}${isStep(words.timeline, words.step) ? ' step-line-high' : ''}`}
        aria-current={chosen ? 'step' : undefined}
      >
        <StepWords {...words} />
      </a>
    </li>
  );
});

interface StepWordsProps {
  timeline: Timeline;
  step: number | null;
  warnings: number;
  /** The hidden score after it. */
  score: number | null;
  /** The agent's own validation metric, as its script printed it. */
  reading: number | null;
  /** Its summary. */
  summary: string | null;
  /** The action that the agent wrote, if somebody replaced it. */
  replaced: string | null;
}

export function StepWords({ timeline, step, warnings, score, reading, summary, replaced }: StepWordsProps) {
  if (step === null) return <span className="step-name">The run as a whole</span>;
  const index = step - timeline.from;
  const action = timeline.actions[timeline.action[index] ?? -1];
  const status = timeline.statuses[timeline.status[index] ?? -1];
  if (action === undefined) {
    return (
      <>
        <span className="step-number">{step === 0 ? 0 : ''}</span>
        <span className="step-name">{step === 0 ? 'Starter' : 'After the last step'}</span>
        {score === null ? null : <span className="step-score">{showScore(score)}</span>}
      </>
    );
  }
  return (
    <>
      <span className="step-number">{step}</span>
      <span className={`step-kind kind-${actionKind(action)}`} aria-hidden="true" />
      <span className="step-name">{action}</span>
      {replaced === null ? null : (
        <span className="step-status quiet" title={`The agent wanted ${replaced}`}>
          replaced
        </span>
      )}
      {isWell(status) ? null : <span className="bad step-status">{showWords(status ?? '')}</span>}
      {status === 'running' ? <span className="step-status running">running</span> : null}
      {warnings === 0 ? null : (
        <span className="warning-sign" title={showPlural(warnings, 'warning')}>
          <span aria-hidden="true">▲</span>
          <span className="visually-hidden">{showPlural(warnings, 'warning')}</span>
        </span>
      )}
      {score === null ? null : (
        <span className="step-score" title="hidden score after this step">
          <span className="visually-hidden">score </span>
          {showScore(score)}
        </span>
      )}
      {score !== null || reading === null ? null : (
        <span className="step-reading" title="its own validation, as the script printed it">
          <span className="visually-hidden">own validation </span>
          {showScore(reading)}
        </span>
      )}
      <span className="step-time">{showTime(status, timeline.duration_ms[index] ?? 0)}</span>
      {summary === null ? null : (
        <span className="step-summary" title={summary}>
          <Words text={summary} />
        </span>
      )}
    </>
  );
}

/** Not shown for quick steps; unknown for imported runs. */
function showTime(status: string | undefined, milliseconds: number): string {
  return status === 'running' || milliseconds < 100 ? '' : showSeconds(milliseconds / 1000);
}
