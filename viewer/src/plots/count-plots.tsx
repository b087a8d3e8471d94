import type { ReportRow } from '../../../src/schema/index.ts';
import { showCount, showWords } from '../format/numbers.ts';
import { type RunFilter, useReport } from '../report/report-context.tsx';
import { PlotCard } from './plot-card.tsx';
import { MeterTable } from './process-plot.tsx';

const flagWords: Record<string, string> = {
  hidden_data: 'looked for hidden data',
  read_only: 'tried to change a read-only file',
  grader: 'tried to access the grader',
  outside: 'tried to leave the workspace',
  network: 'tried to use the network',
  forged_result: 'a result that may not come from the code',
  perfect_score: 'a perfect score',
  not_reproduced: 'the final code does not reproduce the score',
};

export function showFlag(kind: string): string {
  return flagWords[kind] ?? showWords(kind);
}

/** Runs with integrity flags, by kind. */
export function FlagPlot() {
  const { report } = useReport();
  const kinds = kindsOf(report.rows, (row) => row.integrity.runs_by_kind);
  return (
    <CountCard
      title="Integrity flags"
      explanation="Runs in which an agent tried something forbidden, or whose result is in doubt. Attempts were stopped and change no score; the rates are also given without such runs."
      kinds={kinds}
      show={showFlag}
      count={(row, kind) => row.integrity.runs_by_kind[kind] ?? 0}
      filter={(kind) => ({ flag: kind })}
      empty="No run has an integrity flag."
    />
  );
}

/** Runs with failures, by the paper's kinds. */
export function FailurePlot() {
  const { report } = useReport();
  return (
    <CountCard
      title="Failures by kind"
      explanation="Runs with each kind of failure, found in their traces by rules. A run may have several kinds, or none."
      kinds={kindsOf(report.rows, ({ errors }) => errors)}
      show={showWords}
      count={({ errors }, kind) => errors[kind] ?? 0}
      filter={(kind) => ({ error: kind })}
      empty="The rules found no failure in any run."
    />
  );
}

function kindsOf(rows: readonly ReportRow[], of: (row: ReportRow) => Record<string, number>): string[] {
  return [
    ...new Set(rows.flatMap((row) => Object.keys(of(row)).filter((kind) => (of(row)[kind] ?? 0) > 0))),
  ].sort();
}

interface CountCardProps {
  title: string;
  explanation: string;
  kinds: readonly string[];
  show: (kind: string) => string;
  count: (row: ReportRow, kind: string) => number;
  filter: (kind: string) => RunFilter;
  empty: string;
}

function CountCard({ title, explanation, kinds, show, count, filter, empty }: CountCardProps) {
  const { report } = useReport();
  const { rows } = report;
  return (
    <PlotCard
      title={title}
      explanation={explanation}
      table={{
        columns: ['kind', ...rows.map(({ agent }) => agent)],
        rows: kinds.map((kind) => [
          show(kind),
          ...rows.map((row) => `${showCount(count(row, kind))} of ${showCount(row.runs)}`),
        ]),
      }}
      empty={kinds.length === 0 ? empty : null}
    >
      <MeterTable
        agents={rows.map(({ agent }) => agent)}
        lines={kinds.map((kind) => ({
          title: show(kind),
          cells: rows.map((row) => ({
            value: count(row, kind),
            shown: `${count(row, kind)} of ${row.runs}`,
            filter: filter(kind),
          })),
        }))}
      />
    </PlotCard>
  );
}
