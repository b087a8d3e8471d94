import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef } from 'react';
import { useSearchParams } from 'react-router';
import { RunPage as PageData, Timeline } from '../../../src/schema/index.ts';
import { experimentAddress, runAddress } from '../addresses.ts';
import { useData } from '../data/use-data.ts';
import { useLive } from '../data/use-live.ts';
import { Choice } from '../parts/choice.tsx';
import { Page } from '../parts/page.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { Answer, Notice } from '../parts/states.tsx';
import { useAddressChoice, useAddressText } from '../parts/use-address-choice.ts';
import { type AlignedSteps, type Alignment, alignSteps } from '../run/align.ts';
import { RunHead } from '../run/run-head.tsx';
import { RunOverview } from '../run/run-overview.tsx';
import { StepDetail } from '../run/step-detail.tsx';
import { StepWords } from '../run/step-list.tsx';
import { runPath } from '../run/step-place.ts';
import { TimelineLegend, TimelineView } from '../run/timeline-view.tsx';
import { type KeyTable, useKeys } from '../run/use-run-keys.ts';

const alignments: Record<Alignment, { title: string }> = {
  step: { title: 'aligned by step' },
  time: { title: 'aligned by time' },
};

interface Place {
  experiment: string;
  run: string;
}

/** Two runs side by side. */
export default function SideBySidePage() {
  const [params] = useSearchParams();
  const live = useLive();
  const a = placeOf(params.get('a'));
  const b = placeOf(params.get('b'));
  return (
    <Page
      title="Side by side"
      crumbs={a === null ? [] : [{ title: a.experiment, to: experimentAddress(a.experiment) }]}
      live={live.state}
      filled
    >
      {a === null || b === null ? (
        <Notice kind="warning">The address does not say which two runs.</Notice>
      ) : (
        <Both a={a} b={b} />
      )}
    </Page>
  );
}

function placeOf(text: string | null): Place | null {
  const [experiment, run, ...more] = (text ?? '').split('/');
  return experiment === undefined || run === undefined || more.length > 0 ? null : { experiment, run };
}

function Both({ a, b }: { a: Place; b: Place }) {
  const timelineA = useTimeline(a);
  const timelineB = useTimeline(b);
  return (
    <Answer result={timelineA} what={`the steps of ${a.run}`}>
      {(first) => (
        <Answer result={timelineB} what={`the steps of ${b.run}`}>
          {(second) => <Aligned a={a} b={b} timelineA={first} timelineB={second} />}
        </Answer>
      )}
    </Answer>
  );
}

/** The steps of a run, with new ones while it is running. */
function useTimeline(place: Place) {
  const page = useData({ path: runPath(place), parser: PageData, againWhile: isUnfinished });
  const isRunning = page.data !== undefined && isUnfinished(page.data);
  const timeline = useData({
    path: runPath(place, 'timeline'),
    parser: Timeline,
    againWhile: ({ pending }) => pending || isRunning,
  });
  const { refetch } = timeline;
  // The last steps may have ended after the last request for a running run.
  const wasRunning = useRef(false);
  useEffect(() => {
    if (wasRunning.current && !isRunning) void refetch();
    wasRunning.current = isRunning;
  }, [isRunning, refetch]);
  return timeline;
}

function isUnfinished({ status }: PageData): boolean {
  return status === 'running' || status === 'pending';
}

function Aligned({
  a,
  b,
  timelineA,
  timelineB,
}: {
  a: Place;
  b: Place;
  timelineA: Timeline;
  timelineB: Timeline;
}) {
  const [by, align] = useAddressChoice('by', alignments, 'step');
  const rows = useMemo(() => alignSteps(timelineA, timelineB, by), [timelineA, timelineB, by]);
  // The address has a step, not a row, so that it stays the same when the rows are aligned differently. Empty: the runs
  // as a whole.
  const [at, setAt] = useAddressText('at', '');
  const chosen = rowAt(rows, at);
  const row = rows[chosen] ?? null;
  const chooseStep = (side: 'a' | 'b', step: number) => setAt(`${side}${step}`);
  const chooseRow = (wanted: AlignedSteps | null) => setAt(wanted === null ? '' : nameOfRow(wanted));
  const keys = useRowKeys(rows, chosen, [timelineA, timelineB], chooseRow);
  useKeys(keys);
  return (
    <div className="side-by-side">
      <h1 className="visually-hidden">Two runs side by side</h1>
      <div className="two two-heads">
        <Side
          {...{ place: a, timeline: timelineA, beside: timelineB }}
          step={row?.a ?? null}
          onStep={(step) => chooseStep('a', step)}
        />
        <Side
          {...{ place: b, timeline: timelineB, beside: timelineA }}
          step={row?.b ?? null}
          onStep={(step) => chooseStep('b', step)}
        />
      </div>
      <div className="toolbar">
        <Choice label="Alignment" value={by} choices={alignments} onChange={align} />
        <TimelineLegend timeline={timelineA} beside={timelineB} />
      </div>
      <Rows
        by={by}
        rows={rows}
        chosen={chosen}
        timelineA={timelineA}
        timelineB={timelineB}
        onChoose={chooseRow}
      />
      <div className="two two-details">
        <Detail place={a} step={row === null ? 'whole' : row.a} />
        <Detail place={b} step={row === null ? 'whole' : row.b} />
      </div>
    </div>
  );
}

/** The name of a step in the address: `a3`, or `b3` if the first run has no step beside it. */
function nameOfRow({ a, b }: AlignedSteps): string {
  return a === null ? `b${b}` : `a${a}`;
}

/** -1: the runs as a whole. */
function rowAt(rows: readonly AlignedSteps[], at: string): number {
  return rows.findIndex(({ a, b }) => at === `a${a}` || at === `b${b}`);
}

/** The keys of a run's page, for rows. */
function useRowKeys(
  rows: readonly AlignedSteps[],
  chosen: number,
  timelines: readonly [Timeline, Timeline],
  choose: (row: AlignedSteps | null) => void,
): KeyTable {
  // Keys may be pressed faster than pages are drawn: each continues from the position after the previous one.
  const here = useRef(chosen);
  useEffect(() => {
    here.current = chosen;
  }, [chosen]);
  const go = (to: number) => {
    here.current = Math.max(-1, Math.min(rows.length - 1, to));
    choose(rows[here.current] ?? null);
  };
  const toWarning = (forward: boolean) => {
    const [a, b] = timelines.map(({ warnings }) => new Set(warnings.map(({ step }) => step)));
    const warned = rows.flatMap((row, index) =>
      a?.has(row.a ?? -1) === true || b?.has(row.b ?? -1) === true ? [index] : [],
    );
    const found = forward
      ? warned.find((index) => index > here.current)
      : warned.findLast((index) => index < here.current);
    if (found !== undefined) go(found);
  };
  return {
    j: () => go(here.current + 1),
    k: () => go(here.current - 1),
    g: () => go(0),
    G: () => go(rows.length - 1),
    o: () => go(-1),
    n: () => toWarning(true),
    p: () => toWarning(false),
  };
}

function Side({
  place,
  timeline,
  beside,
  step,
  onStep,
}: {
  place: Place;
  timeline: Timeline;
  beside: Timeline;
  step: number | null;
  onStep: (step: number) => void;
}) {
  const page = useData({ path: runPath(place), parser: PageData });
  const direction = page.data?.evaluation?.scoring_reference?.direction ?? 'maximize';
  return (
    <div>
      <div>{page.data === undefined ? <h2>{place.run}</h2> : <RunHead page={page.data} level={2} />}</div>
      <TimelineView
        timeline={timeline}
        step={step}
        direction={direction}
        beside={beside}
        label={`Steps of ${place.run}`}
        onStep={onStep}
      />
    </div>
  );
}

function Detail({ place, step }: { place: Place; step: number | 'whole' | null }) {
  const page = useData({ path: runPath(place), parser: PageData });
  return (
    <Scroll className="run-detail" label={place.run}>
      {step === 'whole' ? (
        <Answer result={page} what={`the run ${place.run}`}>
          {(data) => (
            <RunOverview
              page={data}
              hrefOf={(to) => runAddress(place.experiment, place.run, to ?? undefined)}
            />
          )}
        </Answer>
      ) : step === null ? (
        <p className="quiet">No step here.</p>
      ) : (
        <StepDetail {...place} step={step} output={null} />
      )}
    </Scroll>
  );
}

interface RowsProps {
  by: Alignment;
  rows: readonly AlignedSteps[];
  /** -1: the runs as a whole. */
  chosen: number;
  timelineA: Timeline;
  timelineB: Timeline;
  onChoose: (row: AlignedSteps | null) => void;
}

function Rows({ by, rows, chosen, timelineA, timelineB, onChoose }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length + 1,
    getScrollElement: () => box.current,
    estimateSize: () => 28,
    overscan: 10,
    initialRect: { width: 1000, height: 200 },
  });
  useEffect(() => {
    virtual.scrollToIndex(chosen + 1, { align: 'auto' });
  }, [virtual, chosen]);
  return (
    <Scroll className="step-list aligned" label={`Steps aligned by ${by}`} box={box}>
      <ol style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const row = rows[index - 1] ?? null;
          return (
            <li key={key} style={{ transform: `translateY(${start}px)` }}>
              <button
                type="button"
                className={index === chosen + 1 ? 'aligned-line step-chosen' : 'aligned-line'}
                aria-pressed={index === chosen + 1}
                onClick={() => onChoose(row)}
              >
                {row === null ? (
                  <span className="step-line">The runs as a whole</span>
                ) : (
                  <>
                    <Cell timeline={timelineA} step={row.a} />
                    <Cell timeline={timelineB} step={row.b} />
                  </>
                )}
              </button>
            </li>
          );
        })}
      </ol>
    </Scroll>
  );
}

function Cell({ timeline, step }: { timeline: Timeline; step: number | null }) {
  if (step === null) return <span className="step-line quiet">·</span>;
  const warnings = timeline.warnings.filter((warning) => warning.step === step).length;
  const score = timeline.grades.find((grade) => grade.step === step)?.score ?? null;
  const reading = timeline.readings.find((known) => known.step === step)?.printed ?? null;
  const summary = timeline.summaries.find((known) => known.step === step)?.text ?? null;
  const replaced = timeline.replaced.find((known) => known.step === step)?.action ?? -1;
  return (
    <span className="step-line">
      <StepWords
        timeline={timeline}
        step={step}
        warnings={warnings}
        score={score}
        reading={reading}
        summary={summary}
        replaced={timeline.actions[replaced] ?? null}
      />
    </span>
  );
}
