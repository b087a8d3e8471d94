import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { type ExperimentLine, ExperimentList } from '../../../src/schema/index.ts';
import { compareAddress, experimentAddress, runAddress } from '../addresses.ts';
import { useData, useSource } from '../data/use-data.ts';
import { useLive } from '../data/use-live.ts';
import { showPlural, showSeconds, showSpent, showTokens } from '../format/numbers.ts';
import { showAgo, showDate } from '../format/time.ts';
import { StatusBadge } from '../parts/badges.tsx';
import { Page } from '../parts/page.tsx';
import { ProgressBar } from '../parts/progress-bar.tsx';
import { Answer } from '../parts/states.tsx';
import { useAddressText } from '../parts/use-address-choice.ts';
import { Words } from '../parts/words.tsx';

/** All experiments of the folders. */
export default function ExperimentsPage() {
  const live = useLive();
  const { info } = useSource();
  const result = useData({ path: ['experiments'], parser: ExperimentList });
  return (
    <Page title="Experiments" live={live.state}>
      <h1>Experiments</h1>
      <p className="quiet">
        in the {info.folders.length === 1 ? 'folder' : 'folders'} {info.folders.join(', ')}
        {info.exported === null ? '' : ` · exported ${showDate(info.exported)}`}
      </p>
      <Answer result={result} what="the experiments">
        {({ experiments }) => (experiments.length === 0 ? <NoExperiment /> : <Lines lines={experiments} />)}
      </Answer>
    </Page>
  );
}

function NoExperiment() {
  const { info } = useSource();
  return (
    <div className="empty-page">
      <p>There is no experiment here yet. One that needs no API key:</p>
      <pre className="code">
        <code>{info.command} run --suite starter --agent automl</code>
      </pre>
      <p className="quiet">It will appear here.</p>
    </div>
  );
}

function Lines({ lines }: { lines: readonly ExperimentLine[] }) {
  const [text, setText] = useAddressText('q', '');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const { info } = useSource();
  const canCompare = info.source === 'server';
  const words = text.toLowerCase();
  const shown = lines.filter(({ name, agents, tasks, state }) =>
    `${name} ${agents.join(' ')} ${tasks.join(' ')} ${state}`.toLowerCase().includes(words),
  );
  const toggle = (id: string) =>
    setChosen((before) =>
      before.includes(id) ? before.filter((known) => known !== id) : [...before, id].slice(0, 2),
    );
  return (
    <>
      <div className="toolbar">
        <input
          type="search"
          placeholder="Filter by name, agent or task"
          aria-label="Filter experiments"
          defaultValue={text}
          onChange={(event) => setText(event.target.value)}
        />
        <span className="quiet" role="status">
          {showPlural(shown.length, 'experiment')}
        </span>
        {canCompare && lines.length > 1 ? <CompareButton chosen={chosen} /> : null}
      </div>
      <ul className="experiment-list">
        {shown.map((line) => (
          <Line
            key={line.id}
            line={line}
            select={
              canCompare
                ? {
                    checked: chosen.includes(line.id),
                    full: chosen.length === 2,
                    toggle: () => toggle(line.id),
                  }
                : null
            }
          />
        ))}
      </ul>
    </>
  );
}

function CompareButton({ chosen: [a, b] }: { chosen: readonly string[] }) {
  const navigate = useNavigate();
  const ready = a !== undefined && b !== undefined;
  return (
    <button
      type="button"
      disabled={!ready}
      title={ready ? undefined : 'Select two experiments'}
      onClick={() => ready && void navigate(compareAddress(a, b))}
    >
      Compare two
    </button>
  );
}

interface LineProps {
  line: ExperimentLine;
  /** `full`: two are selected already. */
  select: { checked: boolean; full: boolean; toggle: () => void } | null;
}

function Line({ line, select }: LineProps) {
  return (
    <li className="experiment-line">
      <div className="experiment-head">
        {select === null ? null : (
          <input
            type="checkbox"
            aria-label={`select ${line.name} for comparison`}
            checked={select.checked}
            disabled={select.full && !select.checked}
            title={
              select.full && !select.checked ? 'Two experiments are selected: deselect one first.' : undefined
            }
            onChange={select.toggle}
          />
        )}
        <h2>
          <Link to={experimentAddress(line.id)}>{line.name}</Link>
        </h2>
        <StatusBadge status={line.state} />
        {line.changed === null ? null : (
          <time
            className="quiet"
            dateTime={new Date(line.changed).toISOString()}
            title={showDate(line.changed)}
          >
            {showAgo(line.changed, Date.now())}
          </time>
        )}
      </div>
      {line.message === null ? null : (
        <p className="bad">
          <Words text={line.message} />
        </p>
      )}
      {line.agents.length === 0 ? null : (
        <p>
          {listed(line.agents)} <span className="quiet">on</span> {listed(line.tasks)}
        </p>
      )}
      <div className="experiment-facts">
        <ProgressBar states={line.states} total={line.runs} />
        <span className="quiet">{usedWords(line)}</span>
      </div>
      {line.running.length === 0 ? null : (
        <ul className="running-list">
          {line.running.map(({ run, steps }) => (
            <li key={run}>
              <span aria-hidden="true">▶</span> <Link to={runAddress(line.id, run)}>{run}</Link>{' '}
              <span className="quiet">{showPlural(steps, 'step')}</span>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

function usedWords({ used, in_branches: branches }: ExperimentLine): string {
  const { seconds, tokens } = used;
  return [
    showSeconds(seconds),
    ...(tokens === 0 ? [] : [`${showTokens(tokens, used.estimated)} tokens`, showSpent(used)]),
    ...(branches.tokens === 0 ? [] : [`plus ${showSpent(branches)} in branches that people began`]),
  ].join(' · ');
}

function listed(names: readonly string[]): string {
  const shown = 5;
  if (names.length <= shown) return names.join(', ');
  return `${names.slice(0, shown).join(', ')} and ${names.length - shown} more`;
}
