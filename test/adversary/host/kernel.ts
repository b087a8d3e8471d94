import { join } from 'node:path';
import { pythonAttacks } from '../python-attacks.ts';

export default pythonAttacks(join(import.meta.dirname, 'kernel.py'));
