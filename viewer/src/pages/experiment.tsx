import { useMemo } from 'react';
import { Link, useParams } from 'react-router';
import { type Convention, ExperimentPage as PageData, ReportPage } from '../../../src/schema/index.ts';
import {
  compareAddress,
  experimentAddress,
  runAddress,
  sideBySideAddress,
  taskAddress,
} from '../addresses.ts';
import { useData, useSource } from '../data/use-data.ts';
import { useLive } from '../data/use-live.ts';
import {
  progressWords,
  showMoney,
  showPlural,
  showSeconds,
  showSpent,
  showTokens,
} from '../format/numbers.ts';
import { showDate } from '../format/time.ts';
import { StatusBadge } from '../parts/badges.tsx';
import { Choice } from '../parts/choice.tsx';
import { Page } from '../parts/page.tsx';
import { ProgressBar } from '../parts/progress-bar.tsx';
import { Answer, ErrorMessage, Loading, Notice } from '../parts/states.tsx';
import { useAddressChoice } from '../parts/use-address-choice.ts';
import { Words } from '../parts/words.tsx';
import { ReportPlots } from '../report/report-view.tsx';
import { rowOfLine } from '../report/run-rows.ts';
import { RunsTable } from '../report/runs-table.tsx';
import { UnreadableRuns } from '../report/unreadable-runs.tsx';

const conventions: Record<Convention, { title: string }> = {
  every_run: { title: 'every run counts' },
  paper: { title: "the paper's rules" },
};

/** One experiment: results, runs and plots. */
export default function ExperimentPage() {
  const { experiment = '' } = useParams();
  const live = useLive(experiment);
  const page = useData({ path: ['experiments', experiment], parser: PageData });
  return (
    <Page
      title={experiment}
      crumbs={[{ title: experiment, to: experimentAddress(experiment) }]}
      live={live.state}
      listsRuns
    >
      <Answer result={page} what={`the experiment ${experiment}`}>
        {(data) => <Experiment experiment={experiment} page={data} />}
      </Answer>
    </Page>
  );
}

function Experiment({ experiment, page }: { experiment: string; page: PageData }) {
  const { info } = useSource();
  const { line, runs } = page;
  const [convention, setConvention] = useAddressChoice('rules', conventions, 'every_run');
  const answer = useData({
    path: ['experiments', experiment, 'report'],
    query: { convention },
    parser: ReportPage,
    keep: true,
    enabled: line.runs > 0,
    againWhile: ({ pending }) => pending !== null,
  });
  const report = answer.data?.report ?? null;
  const pending = answer.data?.pending ?? null;
  const rows = useMemo(() => {
    const known = new Map((report?.runs ?? []).map((run) => [run.run, run]));
    return runs.map((run) => rowOfLine(experiment, run, known.get(run.run) ?? null));
  }, [experiment, runs, report]);
  const table = (
    <RunsTable
      rows={rows}
      runHref={(run) => runAddress(experiment, run.run)}
      sideBySideHref={(a, b) => sideBySideAddress(a, b)}
    />
  );
  return (
    <>
      <Head page={page}>
        {info.source === 'server' && line.runs > 0 ? (
          <Choice label="Rules" value={convention} choices={conventions} onChange={setConvention} />
        ) : null}
        {/* If there are results already, nothing below moves. */}
        {pending === null || report === null ? null : (
          <span className="quiet" role="status">
            made anew{progressWords(pending)}
          </span>
        )}
      </Head>
      <UnreadableRuns names={answer.data?.unreadable ?? []} />
      {pending === null || report !== null ? null : (
        <Notice kind="note">The results are being computed{progressWords(pending)}.</Notice>
      )}
      {answer.isError ? (
        <ErrorMessage error={answer.error} what="the results" again={() => void answer.refetch()} />
      ) : null}
      {report === null && answer.isFetching && pending === null ? <Loading what="the results" /> : null}
      {report === null ? (
        table
      ) : (
        <ReportPlots
          report={report}
          compareHref={info.source === 'server' ? (a, b) => compareAddress(a, b, experiment) : null}
        >
          {table}
        </ReportPlots>
      )}
    </>
  );
}

function Head({ page: { line, plan }, children }: { page: PageData; children: React.ReactNode }) {
  const spend = plan?.spend?.money;
  return (
    <>
      <div className="title-line">
        <h1>{line.name}</h1>
        <StatusBadge status={line.state} />
      </div>
      {line.message === null ? null : (
        <Notice kind="warning">
          <Words text={line.message} />
        </Notice>
      )}
      <div className="facts">
        <ProgressBar states={line.states} total={line.runs} />
        <span title="the times of all runs, added up">{showSeconds(line.used.seconds)} in all runs</span>
        {line.used.tokens === 0 ? null : (
          <span>
            {showTokens(line.used.tokens, line.used.estimated)} tokens, {showSpent(line.used)}
          </span>
        )}
        {line.in_branches.tokens === 0 ? null : (
          <span>plus {showSpent(line.in_branches)} in branches that people began</span>
        )}
        {spend === undefined ? null : <span>of at most {showMoney(spend)}</span>}
        {line.created === null ? null : <span className="quiet">begun {showDate(line.created)}</span>}
        {children}
      </div>
      <ul className="task-links" aria-label="tasks">
        {line.tasks.map((task) => (
          <li key={task}>
            <Link to={taskAddress(task)}>{task}</Link>
          </li>
        ))}
      </ul>
      {line.running.length === 0 ? null : (
        <ul className="running-list" aria-label="Running now">
          {line.running.map(({ run, agent, task, steps }) => (
            <li key={run}>
              <span aria-hidden="true">▶</span> <Link to={runAddress(line.id, run)}>{run}</Link>{' '}
              <span className="quiet">
                {agent} on {task}, {showPlural(steps, 'step')}
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
