import { join } from 'node:path';
import { pythonAttacks } from '../python-attacks.ts';

export default pythonAttacks(join(import.meta.dirname, 'files.py'), {
  unconfined: [
    'reads a file of the host by its path',
    'reads a file of the host through a link in the workspace',
    'reads a file of the host through the roots in /proc',
    'writes into a folder of the host',
  ],
});
