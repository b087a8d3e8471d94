import { expect, test } from 'vitest';
import { mlab } from '../../test/fixtures/mlab-process.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';

test('--on takes the address of a Redis, beside the names that it lists', async () => {
  const argv = ['run', '--task', 'digits', '--agent', 'noop', '--dry-run', '--on'];
  const place = { folder: temporaryFolder() };
  expect(await mlab([...argv, 'redis://queue.example:6379'], place)).toMatchObject({ code: 0, err: '' });
  const { code, err } = await mlab([...argv, 'redsi'], place);
  expect(code).toBe(2);
  expect(err).toContain('Did you mean "redis"?');
});
