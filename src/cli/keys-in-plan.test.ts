import { expect, test } from 'vitest';
import { examplePlan } from '../../test/fixtures/store/examples.ts';
import { refuseKeysInPlan } from './keys-in-plan.ts';

test('a plan that contains the value of a variable with a key is refused, without repeating it', () => {
  const plan = { ...examplePlan(['a']), name: 'sk-company-7f3a91' as never };
  const refused = () => refuseKeysInPlan(plan, { COMPANY_API_KEY: 'sk-company-7f3a91' });
  expect(refused).toThrow(/The value of COMPANY_API_KEY is part of the plan/);
  expect(refused).not.toThrow(/7f3a91/);
});

test('short values, and variables that are not keys, are accepted', () => {
  const plan = examplePlan(['a']);
  expect(() => refuseKeysInPlan(plan, { A_TOKEN: 'a', HOME: plan.name, B_KEY: '' })).not.toThrow();
});
