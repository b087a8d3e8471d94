import { expect, test } from 'vitest';
import { examplePlan, exampleSpec } from '../../test/fixtures/store/examples.ts';
import { roleSettings } from '../models/index.ts';
import { type Plan, RunSpec } from '../schema/index.ts';
import { checkMoney } from './check-money.ts';

const model = 'own/model';
/** A reply of 2,000 tokens costs $0.02, one of 32,000 tokens $0.32. */
const prices = { [model]: { input: 1, output: 10, date: '2026-01-02', source: 'made up' } };

function planWith(money: number | undefined, spend: Plan['spend'] = {}, agent = 'tools'): Plan {
  const { limits, ...spec } = exampleSpec();
  const roles = roleSettings(model, {});
  const run = RunSpec.parse({ ...spec, agent, roles, limits: { ...limits, money } });
  return { ...examplePlan(), prices, spend, runs: [run] };
}

test('a limit on money that allows no call is refused, with the cost of a reply', () => {
  const refused = () => checkMoney(planWith(0.02), new Set());
  expect(refused).toThrow('--money 0.02 does not allow a single call: own/model may reply with 2000 tokens');
  expect(refused).toThrow(expect.objectContaining({ hint: expect.stringContaining('more than $0.02') }));
  expect(() => checkMoney(planWith(1, { money: 0.01 }), new Set())).toThrow(
    '--experiment-money (spend.money) 0.01',
  );
  for (const money of [0.04, undefined]) expect(checkMoney(planWith(money), new Set())).toEqual([]);
});

test('a limit that may not pay for the first request gets a warning', () => {
  expect(checkMoney(planWith(0.03), new Set())).toEqual([
    '--money 0.03 may not allow a single call: beside the longest reply it must pay for the request, with the first one up to about $0.033.',
  ]);
});

test('a program is only warned about, since it may ask for shorter replies', () => {
  const programs = new Set(['opencode']);
  expect(checkMoney(planWith(0.3, {}, 'opencode'), programs)).toEqual([
    expect.stringContaining('if opencode sets no limit of its own, own/model may reply with 32000 tokens'),
  ]);
  expect(checkMoney(planWith(0.4, {}, 'opencode'), programs)).toEqual([]);
});

test('a model without a price, and a run without models, are not checked', () => {
  expect(checkMoney({ ...planWith(0.001), prices: {} }, new Set())).toEqual([]);
  expect(checkMoney(examplePlan(), new Set())).toEqual([]);
});
