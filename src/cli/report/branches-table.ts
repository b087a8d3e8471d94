import type { EvaluatedBranch } from '../../schema/index.ts';
import { quantity, words } from './cells.ts';
import { define } from './define-table.ts';

type Row = EvaluatedBranch & { run: string };

/** The branches that agents made, if any. */
export const branches = define<Row>({
  title: 'Branches',
  note: 'Branches that agents made. The selected one is the result of its run; mlab grade --steps all scores the others.',
  rows: ({ runs }) =>
    runs.flatMap(({ experiment, run, branches: all = [] }) =>
      all.map((branch) => ({ ...branch, run: `${experiment}/${run}` })),
    ),
  fields: [
    words('run', 'run', ({ run }) => run),
    words('branch', 'branch', ({ branch, selected }) => `${branch}${selected ? ' (selected)' : ''}`),
    words('from', 'from', ({ origin }) => (origin === null ? '' : `${origin.branch} step ${origin.step}`)),
    quantity('steps', 'own steps', ({ steps }) => steps),
    quantity('graded_step', 'graded at', ({ grade }) => grade?.step ?? null),
    quantity('score', 'score', ({ grade }) => grade?.score ?? null),
  ],
});
