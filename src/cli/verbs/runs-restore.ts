import { resolve } from 'node:path';
import { restoreSnapshot } from '../../store/index.ts';
import { locateRun } from '../locate.ts';
import { snapshotOfStep } from '../run-steps.ts';
import type { Verb } from '../verb.ts';

export const runsRestore: Verb = {
  arguments: [
    { name: '<run>', description: 'EXPERIMENT/RUN' },
    { name: '<step>', description: 'number of a step, 0 for the starter, or "last"' },
    { name: '<folder>', description: 'an empty or new folder' },
  ],
  flags: [],
  examples: [
    ['mlab runs restore start-1/digits-automl-0 7 /tmp/step-7', 'the workspace as it was after step 7'],
  ],
  async run(context, [given = '', step = '', target = '']) {
    const { folder } = locateRun(context, given);
    const { number, snapshot } = snapshotOfStep(folder, step);
    const place = resolve(target);
    await restoreSnapshot(folder.objects, snapshot, place, { onlyIntoEmpty: true, signal: context.signal });
    return {
      text: `The workspace after step ${number} is in ${place}.`,
      json: { step: number, snapshot, folder: place },
    };
  },
};
