import { expect, test } from 'vitest';
import { examplePlan, exampleSpec } from '../../test/fixtures/store/examples.ts';
import { roleSettings } from '../models/index.ts';
import { type Plan, RunSpec } from '../schema/index.ts';
import { checkTokens } from './check-tokens.ts';

function planWith(tokens: number | undefined, spend: Plan['spend'] = {}): Plan {
  const { limits, ...spec } = exampleSpec();
  const roles = roleSettings('own/model', {});
  return {
    ...examplePlan(),
    spend,
    runs: [RunSpec.parse({ ...spec, roles, limits: { ...limits, tokens } })],
  };
}

test('a limit on tokens that allows no call is refused', () => {
  const refused = () => checkTokens(planWith(2000), new Set());
  expect(refused).toThrow('--tokens 2000 does not allow a single call: own/model may reply with 2000 tokens');
  expect(() => checkTokens(planWith(90_000, { tokens: 1500 }), new Set())).toThrow(
    '--experiment-tokens (spend.tokens) 1500',
  );
});

test('a limit that may not allow the first request gets a warning, a higher one and none at all do not', () => {
  expect(checkTokens(planWith(7000), new Set())).toEqual([
    '--tokens 7000 may not allow a single call: the first one may reserve about 15000 tokens, 2000 of them for its reply.',
  ]);
  for (const tokens of [15_001, undefined]) expect(checkTokens(planWith(tokens), new Set())).toEqual([]);
});

test('of a program, which may ask for shorter replies, a limit below its longest one gets a warning', () => {
  const { agent } = exampleSpec();
  expect(checkTokens(planWith(20_000), new Set([agent]))).toEqual([
    `--tokens 20000 may be too low: if ${agent} sets no limit of its own, own/model may reply with 32000 tokens, and a call that may need more than are left is not made.`,
  ]);
  expect(checkTokens(planWith(40_000), new Set([agent]))).toEqual([]);
});
