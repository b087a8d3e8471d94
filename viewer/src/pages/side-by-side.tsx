import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { RunPage as PageData, Strip } from '../../../src/schema/index.ts';
import { experimentAddress } from '../addresses.ts';
import { useData } from '../data/use-data.ts';
import { useLive } from '../data/use-live.ts';
import { Choice } from '../parts/choice.tsx';
import { Page } from '../parts/page.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { Answer, Notice } from '../parts/states.tsx';
import { type AlignedSteps, type Alignment, alignSteps } from '../run/align.ts';
import { RunHead } from '../run/run-head.tsx';
import { runPath } from '../run/run-place.ts';
import { StepDetail } from '../run/step-detail.tsx';
import { StepWords } from '../run/step-list.tsx';
import { StripLegend, StripView } from '../run/strip-view.tsx';

const alignments: Record<Alignment, { title: string }> = {
  step: { title: 'aligned by step' },
  time: { title: 'aligned by time' },
};

interface Place {
  experiment: string;
  run: string;
}

/** Two runs beside each other. */
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
  const stripA = useData({ path: runPath(a, 'strip'), parser: Strip });
  const stripB = useData({ path: runPath(b, 'strip'), parser: Strip });
  return (
    <Answer result={stripA} what={`the steps of ${a.run}`}>
      {(first) => (
        <Answer result={stripB} what={`the steps of ${b.run}`}>
          {(second) => <Aligned a={a} b={b} stripA={first} stripB={second} />}
        </Answer>
      )}
    </Answer>
  );
}

function Aligned({ a, b, stripA, stripB }: { a: Place; b: Place; stripA: Strip; stripB: Strip }) {
  const [params, setParams] = useSearchParams();
  const by: Alignment = params.get('by') === 'time' ? 'time' : 'step';
  const rows = useMemo(() => alignSteps(stripA, stripB, by), [stripA, stripB, by]);
  // A step is chosen, not a row: it stays so when the rows are aligned anew.
  const [choice, setChoice] = useState<{ side: 'a' | 'b'; step: number }>({ side: 'a', step: 1 });
  const found = rows.findIndex((candidate) => candidate[choice.side] === choice.step);
  const chosen = Math.max(0, found);
  const row = rows[chosen] ?? { a: null, b: null };
  const chooseStep = (side: 'a' | 'b', step: number) => setChoice({ side, step });
  const chooseRow = ({ a: one, b: other }: AlignedSteps) => {
    if (one !== null) chooseStep('a', one);
    else if (other !== null) chooseStep('b', other);
  };
  const align = (next: Alignment) =>
    setParams(
      (before) => {
        before.set('by', next);
        return before;
      },
      { replace: true },
    );
  return (
    <div className="side-by-side">
      <h1 className="only-heard">Two runs side by side</h1>
      <div className="two">
        <Side place={a} strip={stripA} step={row.a} onStep={(step) => chooseStep('a', step)} />
        <Side place={b} strip={stripB} step={row.b} onStep={(step) => chooseStep('b', step)} />
      </div>
      <div className="toolbar">
        <Choice label="Alignment" value={by} choices={alignments} onChange={align} />
        <StripLegend strip={stripA} />
      </div>
      <Rows rows={rows} chosen={chosen} stripA={stripA} stripB={stripB} onChoose={chooseRow} />
      <div className="two two-details">
        <Detail place={a} step={row.a} />
        <Detail place={b} step={row.b} />
      </div>
    </div>
  );
}

function Side({
  place,
  strip,
  step,
  onStep,
}: {
  place: Place;
  strip: Strip;
  step: number | null;
  onStep: (step: number) => void;
}) {
  const page = useData({ path: runPath(place), parser: PageData });
  const direction = page.data?.evaluation?.yardstick?.direction ?? 'maximize';
  return (
    <div>
      {page.data === undefined ? <h2>{place.run}</h2> : <RunHead page={page.data} level={2} />}
      <StripView
        strip={strip}
        step={step}
        direction={direction}
        label={`Steps of ${place.run}`}
        onStep={onStep}
      />
    </div>
  );
}

function Detail({ place, step }: { place: Place; step: number | null }) {
  return (
    <Scroll className="run-detail" label={place.run}>
      {step === null ? (
        <p className="quiet">No step here.</p>
      ) : (
        <StepDetail {...place} step={step} output={null} />
      )}
    </Scroll>
  );
}

interface RowsProps {
  rows: readonly AlignedSteps[];
  chosen: number;
  stripA: Strip;
  stripB: Strip;
  onChoose: (row: AlignedSteps) => void;
}

function Rows({ rows, chosen, stripA, stripB, onChoose }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => 28,
    overscan: 10,
    initialRect: { width: 1000, height: 200 },
  });
  return (
    <Scroll className="step-list aligned" label="Aligned steps" box={box}>
      <ol style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <li key={key} style={{ transform: `translateY(${start}px)` }}>
              <button
                type="button"
                className={index === chosen ? 'aligned-line step-chosen' : 'aligned-line'}
                aria-pressed={index === chosen}
                onClick={() => onChoose(row)}
              >
                <Cell strip={stripA} step={row.a} />
                <Cell strip={stripB} step={row.b} />
              </button>
            </li>
          );
        })}
      </ol>
    </Scroll>
  );
}

function Cell({ strip, step }: { strip: Strip; step: number | null }) {
  if (step === null) return <span className="step-line quiet">·</span>;
  const warnings = strip.warnings.filter((warning) => warning.step === step).length;
  const score = strip.grades.find((grade) => grade.step === step)?.score ?? null;
  return (
    <span className="step-line">
      <StepWords strip={strip} step={step} warnings={warnings} score={score} />
    </span>
  );
}
