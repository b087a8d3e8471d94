import { briefOf } from '../../../../test/fakes/fake-environment.ts';
import type { TaskBrief } from '../../../schema/index.ts';

type Columns = Extract<TaskBrief['submission']['files'][number], { format: 'csv' }>['columns'];

/** A task for tests that asks for these columns, with an id for each row. */
export function taskOf(metric: string, columns: Partial<Columns[number]>[], id = 'id'): TaskBrief {
  const direction = /accuracy|auc/i.test(metric) ? 'maximize' : 'minimize';
  return briefOf({
    metric: { name: metric, unit: 'units', direction },
    submission: {
      description: 'One row for each.',
      files: [
        {
          format: 'csv',
          path: 'submission.csv',
          id: { column: id, from: 'test.csv' },
          columns: columns.map((column) => ({ name: 'y', type: 'number', ...column })),
        },
      ],
      max_mb: 4,
    },
  });
}
