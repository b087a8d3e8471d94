import { expect, test } from 'vitest';
import { fuzzTargets } from './engine/fuzz-targets.ts';
import { targets } from './targets.ts';

/** The same inputs each time, as many as time allows; `npm run fuzz` tries others. */
const seed = 20_260_101;
const seconds = 1;

test('every reader of untrusted bytes survives a second of mutated inputs', async () => {
  const findings: string[] = [];
  let executions = 0;
  await fuzzTargets(targets, {
    ...{ seconds, seed },
    found: (target, { kind, message }, input) =>
      findings.push(`${target}: ${kind}: ${message}\n${input.toString('base64').slice(0, 2_000)}`),
    ended: (_, result) => (executions += result.executions),
    skipped: (target, why) => console.log(`${target}: skipped: ${why}`),
  });
  console.log(`${executions} inputs, seed ${seed}`);
  expect(findings).toEqual([]);
});
