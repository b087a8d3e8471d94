import { useEffect, useMemo, useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import type { RunPage, Timeline } from '../../../src/schema/index.ts';
import { runAddress } from '../addresses.ts';
import type { LiveOutput } from '../data/live-output.ts';
import { useSource } from '../data/use-data.ts';
import { showPlural } from '../format/numbers.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { focusOn } from '../parts/page.tsx';
import { HelpDialog } from './help-dialog.tsx';
import { RunHead } from './run-head.tsx';
import { RunOverview } from './run-overview.tsx';
import { SearchPanel } from './search-panel.tsx';
import { StepDetail } from './step-detail.tsx';
import { StepList } from './step-list.tsx';
import { nextWarning } from './steps-to-go.ts';
import { TimelineLegend, TimelineView } from './timeline-view.tsx';
import { type KeyTable, useKeys } from './use-run-keys.ts';

interface RunBrowserProps {
  page: RunPage;
  timeline: Timeline;
  /** Null: the run as a whole. */
  step: number | null;
  output: LiveOutput | null;
}

/** The timeline of a run, its list of steps, and the selected step. */
export function RunBrowser({ page, timeline, step, output }: RunBrowserProps) {
  const { experiment, run } = page;
  const navigate = useNavigate();
  const [text, setText] = useState('');
  /** How often Enter was pressed in the search: it leads from match to match. */
  const [enters, setEnters] = useState(0);
  const [help, setHelp] = useState(false);
  const search = useRef<HTMLInputElement>(null);
  const detail = useRef<HTMLDivElement>(null);
  const last = timeline.total + (timeline.has_tail ? 1 : 0);
  const hrefOf = (to: number | null) => runAddress(experiment, run, to ?? undefined);
  // Keys may be pressed faster than pages are drawn: each continues from the position after the previous one.
  const here = useRef(step);
  useEffect(() => {
    here.current = step;
  }, [step]);
  const keys = useMemo<KeyTable>(() => {
    const go = (to: number | null) => {
      here.current = to === null ? null : Math.max(0, Math.min(last, to));
      void navigate(runAddress(experiment, run, here.current ?? undefined), { replace: true });
    };
    const toWarning = (forward: boolean) => {
      const found = nextWarning(timeline.warnings, here.current, forward);
      if (found !== null) go(found);
    };
    return {
      j: () => go((here.current ?? 0) + 1),
      k: () => go(here.current === null || here.current === 0 ? null : here.current - 1),
      g: () => go(1),
      G: () => go(last),
      o: () => go(null),
      n: () => toWarning(true),
      p: () => toWarning(false),
      '/': () => search.current?.focus(),
      '?': () => setHelp(true),
    };
  }, [navigate, experiment, run, last, timeline.warnings]);
  useKeys(keys);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another step begins at its top
  useEffect(() => {
    detail.current?.scrollTo({ top: 0 });
  }, [step]);
  const direction = page.evaluation?.scoring_reference?.direction ?? 'maximize';
  return (
    <div className="run-page">
      <RunHead page={page} />
      <TimelineView
        timeline={timeline}
        step={step}
        direction={direction}
        label={`Steps of ${run}`}
        onStep={(to) => void navigate(hrefOf(to), { replace: true })}
      />
      <TimelineLegend timeline={timeline} />
      <div className="run-split">
        <div className="run-side">
          <SearchBox
            text={text}
            onText={(next) => {
              setText(next);
              setEnters(0);
            }}
            onEnter={() => setEnters((before) => before + 1)}
            box={search}
            onHelp={() => setHelp(true)}
          />
          {text.length < 2 ? (
            <StepList timeline={timeline} step={step} hrefOf={hrefOf} />
          ) : (
            <SearchPanel experiment={experiment} run={run} text={text} enters={enters} hrefOf={hrefOf} />
          )}
        </div>
        <div className="run-detail" ref={detail}>
          {step === null ? (
            <RunOverview page={page} hrefOf={hrefOf} />
          ) : (
            <StepDetail
              experiment={experiment}
              run={run}
              step={step}
              output={output}
              total={timeline.total}
              tools={<CopyButton text={location.href} label="Copy link" />}
            />
          )}
        </div>
      </div>
      {page.status === 'running' ? (
        <NewSteps
          total={timeline.total}
          step={step}
          onGo={() => void navigate(hrefOf(timeline.total), { replace: true })}
        />
      ) : null}
      <HelpDialog open={help} onClose={() => setHelp(false)} />
    </div>
  );
}

interface SearchBoxProps {
  text: string;
  onText: (text: string) => void;
  onEnter: () => void;
  box: React.RefObject<HTMLInputElement | null>;
  onHelp: () => void;
}

function SearchBox({ text, onText, onEnter, box, onHelp }: SearchBoxProps) {
  const { info } = useSource();
  return (
    <div className="run-search">
      {info.source === 'server' ? (
        <input
          ref={box}
          type="search"
          value={text}
          placeholder="Search this run  /"
          aria-label="Search in this run"
          onChange={(event) => onText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') onEnter();
            if (event.key !== 'Escape') return;
            onText('');
            focusOn('main');
          }}
        />
      ) : null}
      <button type="button" className="quiet-button" onClick={onHelp} aria-label="Keys" title="Keys (?)">
        ?
      </button>
    </div>
  );
}

/** New steps while another step is open: they are shown on request, so that nothing moves. */
function NewSteps({ total, step, onGo }: { total: number; step: number | null; onGo: () => void }) {
  const [seen, setSeen] = useState(total);
  useEffect(() => {
    if (step !== null && step >= total) setSeen(total);
  }, [step, total]);
  const fresh = total - seen;
  return (
    <div className="new-steps" role="status">
      {fresh <= 0 ? null : (
        <button
          type="button"
          onClick={() => {
            setSeen(total);
            onGo();
          }}
        >
          ↓ {showPlural(fresh, 'new step')}
        </button>
      )}
    </div>
  );
}
