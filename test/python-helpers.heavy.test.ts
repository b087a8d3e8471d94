import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

function python(...args: string[]) {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: 'python/reader:python/agent' };
  return spawnSync('python3', args, { cwd: root, env, encoding: 'utf8' });
}

const usable = python('-c', 'import sys; sys.exit(sys.version_info < (3, 10))').status === 0;

describe('the Python helpers', () => {
  it.skipIf(!usable)(
    'pass their own tests (skipped without a python3 of 3.10 or later)',
    { timeout: 300_000 },
    () => {
      for (const folder of ['python/tests', 'python/reader/tests', 'docs/how-to/write-an-agent']) {
        const tests = python('-m', 'unittest', 'discover', '-s', folder);
        expect(tests.stderr).toMatch(/^OK/m);
        expect(tests.status).toBe(0);
      }
    },
  );
});
