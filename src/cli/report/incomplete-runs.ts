import type { Report, RunPlace } from '../../schema/index.ts';
import { type Experiment, placeOf, queueOf } from '../../store/index.ts';
import { countsText } from '../run-states.ts';
import { oneLine } from '../table.ts';
import type { DocumentCell, ReportDocument } from './document.ts';

/** A run that is not finished, or failed: its state, where it runs, and why it waits or failed. */
export interface IncompleteRun extends RunPlace {
  run: string;
}

/** A table has at most this many rows: `mlab runs ls` lists all runs. */
const maxRows = 20;

/** The runs of a report that are not finished or failed, without those that finished after the report was made. */
export function incompleteRuns(experiments: readonly Experiment[], { runs }: Report): IncompleteRun[] {
  const byName = new Map(
    experiments.map((experiment) => [experiment.name, { experiment, queue: queueOf(experiment.folder) }]),
  );
  return runs.flatMap(({ experiment: name, run, status }) => {
    const found = status === 'finished' ? undefined : byName.get(name);
    if (found === undefined) return [];
    const { experiment, queue } = found;
    if (experiment.specOf(run) === null) return [];
    const place = placeOf(experiment.runFolder(run), queue);
    return place.state === 'finished' ? [] : [{ run: `${name}/${run}`, ...place }];
  });
}

/** The report with these runs after the summary; unchanged if there are none. */
export function withIncomplete(document: ReportDocument, runs: readonly IncompleteRun[]): ReportDocument {
  if (runs.length === 0) return document;
  const left = runs.length - maxRows;
  const note = left > 0 ? `… and ${left} more: mlab runs ls lists them.` : '';
  // Queued runs are the least informative.
  const rows = runs
    .toSorted((one, other) => Number(one.state === 'queued') - Number(other.state === 'queued'))
    .slice(0, maxRows)
    .map(({ run, state, where, why }) => [run, state, where, oneLine(why, 200)].map(cellOf));
  const columns = ['run', 'status', 'where', 'why'].map((title) => ({ title, name: title }));
  const table = { name: 'incomplete', title: 'Runs that are not finished or failed', note, columns, rows };
  return {
    ...document,
    summary: [...document.summary, `Not finished or failed: ${countsText(runs)}.`],
    tables: [...document.tables, table],
  };
}

function cellOf(text: string): DocumentCell {
  return { text, value: text };
}
