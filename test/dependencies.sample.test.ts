import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';

const root = join(import.meta.dirname, '..');
const Audit = z.object({
  vulnerabilities: z.record(z.string(), z.object({ severity: z.string(), via: z.array(z.unknown()) })),
});

/** The registry's advisories for the packages that are installed with mlab; null if it does not answer. */
function audit(): Promise<z.infer<typeof Audit> | null> {
  return new Promise((resolve) => {
    const command = ['audit', '--omit=dev', '--json'];
    execFile('npm', command, { cwd: root, timeout: 60_000, maxBuffer: 2 ** 26 }, (_, stdout) => {
      try {
        resolve(Audit.parse(JSON.parse(stdout)));
      } catch {
        resolve(null);
      }
    });
  });
}

test('no installed package has a known vulnerability that is high or critical', async (context) => {
  const found = await audit();
  if (found === null) context.skip('the registry does not answer npm audit');
  const severe = Object.entries(found?.vulnerabilities ?? {}).filter(([, { severity }]) =>
    ['high', 'critical'].includes(severity),
  );
  expect(severe).toEqual([]);
});
