import { expect, test } from 'vitest';
import { UserError } from '../../lib/errors.ts';
import { Remembered } from './remembered.ts';

test('a failure is kept for the state of its sources, but made again if only its process was killed', async () => {
  const told: string[] = [];
  using remembered = new Remembered<string>({
    most: 2,
    onProgress: () => {},
    onDone: (key) => told.push(key),
  });
  const failures = ['bad_table', 'interrupted'].map((code) => new UserError(code, `it is ${code}`, 'Wait.'));
  for (const failure of failures) {
    const make = () => (told.includes(failure.code) ? Promise.resolve('made') : Promise.reject(failure));
    expect(await remembered.get(failure.code, 'a state', 1000, make)).toMatchObject({ failure });
    await remembered.get(failure.code, 'a state', 1000, make);
  }
  // After the pause between two tries.
  await expect.poll(() => told).toEqual(['bad_table', 'interrupted', 'interrupted']);
  const never = () => Promise.reject(new Error('nobody asks'));
  expect(await remembered.get('bad_table', 'a state', 0, never)).toMatchObject({ value: null });
  expect(await remembered.get('interrupted', 'a state', 0, never)).toMatchObject({
    value: 'made',
    failure: null,
  });
});
