import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const source = `
const { readdirSync, readFileSync } = await import('node:fs');
const { getPriority } = await import('node:os');
const { keepPausesShort } = await import(${JSON.stringify(join(import.meta.dirname, 'short-pauses.ts'))});
keepPausesShort();
const niceness = { V8Worker: [], main: [getPriority(process.pid)] };
for (const thread of readdirSync('/proc/self/task'))
  niceness[readFileSync('/proc/self/task/' + thread + '/comm', 'utf8').trim()]?.push(getPriority(Number(thread)));
console.log(JSON.stringify(niceness));`;

test.skipIf(process.platform !== 'linux')('the threads of V8 let the main thread go first', () => {
  const { V8Worker, main } = JSON.parse(
    execFileSync(process.execPath, ['--v8-pool-size=2', '--eval', source], { encoding: 'utf8' }),
  );
  const lower = Math.max(5, main[0]);
  expect(V8Worker).toEqual([lower, lower]);
});
