import { evaluationsOf } from '../../evaluation/index.ts';
import { buildRuns } from '../../statistics/index.ts';
import { locateExperiment, readableExperiments } from '../locate.ts';
import { duration, number, percent, table } from '../table.ts';
import type { Verb } from '../verb.ts';

export const runsLs: Verb = {
  onlyReads: true,
  arguments: [{ name: '[experiments...]', description: 'names of experiments; default: all' }],
  flags: [],
  examples: [
    ['mlab runs ls', 'every run of every experiment'],
    ['mlab runs ls start-1 --json', 'the runs of one, as data'],
  ],
  async run(context, names) {
    const experiments =
      names.length > 0 ? names.map((name) => locateExperiment(context, name)) : readableExperiments(context);
    const { evaluations, unreadable } = await evaluationsOf(
      { ...context, allCores: true, withBranches: true },
      experiments,
    );
    const runs = buildRuns(evaluations);
    if (runs.length === 0 && unreadable.length === 0) {
      return {
        text: `No runs in ${context.folders.experiments} yet. Begin with: mlab run --suite starter${context.placeFlags}`,
        json: { runs },
      };
    }
    const right = 'right' as const;
    const columns = [
      { title: 'run' },
      { title: 'status' },
      { title: 'steps', align: right },
      { title: 'time', align: right },
      { title: 'score', align: right },
      { title: 'improvement', align: right },
      { title: 'end' },
    ];
    const rows = runs.map((run) => [
      `${run.experiment}/${run.run}`,
      run.status,
      String(run.steps),
      duration(run.seconds),
      number(run.score),
      percent(run.improvement, true),
      run.end?.reason ?? '',
    ]);
    return { text: table(columns, rows), json: { runs } };
  },
};
