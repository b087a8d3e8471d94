import { expect, test } from 'vitest';
import { fuzzTargets } from './engine/fuzz-targets.ts';
import { targets } from './targets.ts';

test('inputs of former findings are read, or refused, within the limits', async () => {
  const findings: string[] = [];
  const ended: string[] = [];
  await fuzzTargets(targets, {
    ...{ seconds: 0, seed: 1 },
    found: (target, { kind, message }, input) =>
      findings.push(
        `${target}: ${kind}: ${message}\n${JSON.stringify(input.toString('latin1').slice(0, 500))}`,
      ),
    ended: (target) => ended.push(target),
    skipped: (target, why) => {
      console.log(`${target}: skipped: ${why}`);
      ended.push(target);
    },
  });
  expect(findings).toEqual([]);
  expect(ended.sort()).toEqual(targets.map(({ name }) => name).sort());
}, 300_000);
