import { useMemo } from 'react';
import { useParams } from 'react-router';
import { TaskPage as PageData } from '../../../src/schema/index.ts';
import { runAddress, sideBySideAddress, taskAddress } from '../addresses.ts';
import { useData } from '../data/use-data.ts';
import { useLive } from '../data/use-live.ts';
import { nothing, showBytes, showScore, showSeconds, showShare } from '../format/numbers.ts';
import { Code } from '../parts/code.tsx';
import { languageOf } from '../parts/language.ts';
import { Markdown } from '../parts/markdown.tsx';
import { Page } from '../parts/page.tsx';
import { Answer, Notice } from '../parts/states.tsx';
import { rowOfLine } from '../report/run-rows.ts';
import { RunsTable } from '../report/runs-table.tsx';

/** The task as agents get it, how it is graded, and all runs on it. */
export default function TaskPage() {
  const { task = '' } = useParams();
  const live = useLive();
  const result = useData({ path: ['tasks', task], parser: PageData });
  return (
    <Page title={task} crumbs={[{ title: task, to: taskAddress(task) }]} live={live.state} listsRuns>
      <Answer result={result} what={`the task ${task}`}>
        {(data) => <Task page={data} />}
      </Answer>
    </Page>
  );
}

function Task({ page: { id, task, starter, runs } }: { page: PageData }) {
  const rows = useMemo(
    () => runs.map(({ experiment, line, result }) => rowOfLine(experiment, line, result)),
    [runs],
  );
  return (
    <>
      <h1>{task === null ? id : task.title}</h1>
      {task === null ? (
        <Notice kind="note">The task {id} is not installed here: only its runs can be shown.</Notice>
      ) : (
        <TaskFacts task={task} />
      )}
      {starter.length === 0 ? null : (
        <section aria-labelledby="starter-title">
          <h2 id="starter-title">Starter</h2>
          {starter.map(({ path, size, text }) => (
            <details key={path} className="file">
              <summary>
                {path} <span className="quiet">{showBytes(size)}</span>
              </summary>
              {text === null ? (
                <p className="quiet">Not text, or too large to show.</p>
              ) : (
                <Code text={text.text} language={languageOf(path)} label={path} />
              )}
            </details>
          ))}
        </section>
      )}
      <RunsTable
        rows={rows}
        runHref={({ experiment, run }) => runAddress(experiment, run)}
        sideBySideHref={sideBySideAddress}
      />
    </>
  );
}

type KnownTask = NonNullable<PageData['task']>;

function TaskFacts({ task }: { task: KnownTask }) {
  const { metric, baseline, reference } = task;
  const better = metric.direction === 'maximize' ? 'higher is better' : 'lower is better';
  return (
    <>
      <p className="lead">{task.summary}</p>
      <div className="columns">
        <section aria-labelledby="problem-title">
          <h2 id="problem-title">The problem that the agent gets</h2>
          <Markdown text={task.problem} />
        </section>
        <section aria-labelledby="judged-title">
          <h2 id="judged-title">How it is graded</h2>
          <dl className="figures figures-narrow">
            <Fact name="Metric">
              {metric.name} ({metric.unit}), {better}
            </Fact>
            <Fact name="Baseline" note={baseline.description}>
              {measured(baseline)}
            </Fact>
            <Fact name="Reference solution" note={reference.description}>
              {measured(reference)}
            </Fact>
            <Fact name="Success">an improvement beyond {showShare(task.threshold)}</Fact>
            <Fact name="Hands in" note={task.submission.description}>
              {task.submission.files.map(({ path }) => path).join(', ')}
            </Fact>
            <Fact name="Starts with">{task.entry}</Fact>
            <Fact name="Limits">
              {task.limits.steps} steps, {showSeconds(task.limits.wall_seconds)}, a script{' '}
              {showSeconds(task.limits.script_seconds)}, {task.limits.memory_mb} MiB
            </Fact>
            <Fact name="Kind">
              {task.category}, {task.modality}
            </Fact>
          </dl>
          <Published task={task} />
        </section>
      </div>
    </>
  );
}

function measured({ mean, spread, seeds }: { mean: number; spread: number; seeds: number }): string {
  return `${showScore(mean)} ± ${showScore(spread)} over ${seeds} ${seeds === 1 ? 'seed' : 'seeds'}`;
}

function Fact({ name, note, children }: { name: string; note?: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {children}
        {note === undefined ? null : <span className="quiet note-line">{note}</span>}
      </dd>
    </div>
  );
}

function Published({ task }: { task: KnownTask }) {
  if (task.published.length === 0) return null;
  return (
    <>
      <h3>Published in the paper</h3>
      <table className="numbers">
        <thead>
          <tr>
            <th scope="col">agent</th>
            <th scope="col">success</th>
            <th scope="col">improvement</th>
          </tr>
        </thead>
        <tbody>
          {task.published.map(({ agent, success_rate: rate, improvement }) => (
            <tr key={agent}>
              <th scope="row">{agent}</th>
              <td>{showScore(rate)} %</td>
              <td>{improvement === undefined ? nothing : `${showScore(improvement)} %`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
