import { expect, test } from 'vitest';
import { chooseExecutor } from './index.ts';

test('runs are executed where it is wanted, else where they were before, else here', () => {
  expect(chooseExecutor(undefined, null)).toBeNull();
  expect(chooseExecutor('local', 'elsewhere')).toBeNull();
  expect(() => chooseExecutor(undefined, 'lokal')).toThrow('There is no executor "lokal".');
});
