import { useMemo } from 'react';
import type { ReportFile } from '../../../src/schema/index.ts';
import { showPlural } from '../format/numbers.ts';
import { ThemeSwitch } from '../parts/theme-switch.tsx';
import { ComparisonView } from '../report/comparison-view.tsx';
import { CopiedRuns } from '../report/copied-runs.tsx';
import { ReportPlots } from '../report/report-view.tsx';
import { rowOfReport } from '../report/run-rows.ts';
import { RunsTable } from '../report/runs-table.tsx';
import { UnreadableRuns } from '../report/unreadable-runs.tsx';

/** A report in one file: results and plots, without the runs themselves. */
export function ReportFilePage({
  file: { title, mlab, report, comparison, unreadable },
}: {
  file: ReportFile;
}) {
  const rows = useMemo(() => report.runs.map(rowOfReport), [report]);
  return (
    <div className="page">
      <header className="top">
        <span className="brand">mlagentbench</span>
        <ThemeSwitch />
      </header>
      <main id="main">
        <h1>{title}</h1>
        <p className="quiet">
          {showPlural(report.runs.length, 'run')} of {showPlural(report.agents.length, 'agent')} on{' '}
          {showPlural(report.tasks.length, 'task')} ·{' '}
          {report.convention === 'paper' ? "the paper's rules" : 'every run counts'} · mlagentbench {mlab}
        </p>
        <UnreadableRuns names={unreadable} />
        <CopiedRuns copies={report.copies ?? []} />
        {comparison === null ? null : <ComparisonView comparison={comparison} sideHref={null} />}
        <ReportPlots report={report} compareHref={null}>
          <RunsTable rows={rows} runHref={noPage} sideBySideHref={null} />
        </ReportPlots>
      </main>
    </div>
  );
}

function noPage(): null {
  return null;
}
