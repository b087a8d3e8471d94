import { pythonPart } from '../model-writing/python-file.ts';
import type { PythonRewriter } from './in-python.ts';

/** If the metric is a time: runs the script, and looks for faster versions of its slowest functions. */
export const fasterFunctions: PythonRewriter = {
  reason: 'Run once, the script shows which functions take long, and what faster versions of them must give.',
  parts: [
    'offers',
    ...[
      'record',
      'prove',
      'kept',
      'lines',
      'trees',
      'rows',
      'scalars',
      'plain',
      'unfold',
      'places',
      'expressions',
      'arrays',
      'find',
    ].map((name) => `speed/${name}`),
  ],
  settings: { HELPERS: pythonPart('speed/helpers') },
  find: 'find',
  seconds: 120,
};
