import { type ReactNode, useMemo } from 'react';
import type { Report } from '../../../src/schema/index.ts';
import { AttemptPlot } from '../plots/attempt-plot.tsx';
import { FailurePlot, FlagPlot } from '../plots/count-plots.tsx';
import { CurvePlot } from '../plots/curve-plot.tsx';
import { FrontierPlot } from '../plots/frontier-plot.tsx';
import { HeatMap } from '../plots/heat-map.tsx';
import { ImprovementPlot } from '../plots/interval-plot.tsx';
import { OutcomePlot } from '../plots/outcome-plot.tsx';
import { ProcessPlot } from '../plots/process-plot.tsx';
import { ProfilePlot } from '../plots/profile-plot.tsx';
import { TimePlot } from '../plots/time-plot.tsx';
import { DifferencesTable } from './differences-table.tsx';
import { ReportContext, type ReportView } from './report-context.tsx';
import { ResultsTable } from './results-table.tsx';

interface Props {
  report: Report;
  /** The address of a comparison of two agents; null if there is none. */
  compareHref: ((a: string, b: string) => string) | null;
  children: ReactNode;
}

/** A whole report: which agent is better, how certain that is, and which runs it is based on. */
export function ReportPlots({ report, compareHref, children }: Props) {
  const view = useMemo<ReportView>(
    () => ({
      report,
      agentIndex: (agent) => Math.max(0, report.agents.indexOf(agent)),
    }),
    [report],
  );
  return (
    <ReportContext value={view}>
      <section aria-labelledby="results-title">
        <h2 id="results-title">Results</h2>
        <p className="explanation">
          Success: the final submission improves on the baseline beyond the threshold of the task.
          Significant: also beyond the noise of the baseline. IQM: interquartile mean of the normalised
          scores, where 0 is the baseline and 1 the reference solution.
        </p>
        <ResultsTable />
        <DifferencesTable compareHref={compareHref} />
        <div className="cards">
          <HeatMap />
          <ImprovementPlot />
        </div>
      </section>
      {children}
      <section aria-labelledby="plots-title">
        <h2 id="plots-title">In detail</h2>
        <div className="cards">
          <CurvePlot />
          <FrontierPlot />
          <OutcomePlot />
          <TimePlot />
          <ProfilePlot />
          <div className="stack">
            <FlagPlot />
            <FailurePlot />
          </div>
          <ProcessPlot />
          <AttemptPlot />
        </div>
      </section>
    </ReportContext>
  );
}
