import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pythonAttacks } from '../python-attacks.ts';

export default pythonAttacks(join(import.meta.dirname, 'processes.py'), {
  unconfined: [
    "reads the harness's keys in the environments of processes",
    'reads what other processes were started with',
    'sees the harness in /proc',
    'ends the harness',
    'watches a folder of the host by inotify',
  ],
  /** Another process of the same user, such as a harness that was started with keys. */
  around: async ({ secret }, attacks) => {
    const other = spawn('sh', ['-c', 'sleep 60; true', 'sh', secret], {
      env: { KEY: secret },
      stdio: 'ignore',
    });
    try {
      return await attacks({});
    } finally {
      other.kill('SIGKILL');
    }
  },
});
