import { expect, test } from 'vitest';
import { failureCauses, infrastructureFailure } from './run-failure.ts';

test.each(['ENOSPC', 'EDQUOT'])('a full disk is a cause of its own, and says what to do: %s', (code) => {
  const error = Object.assign(new Error(`${code}: no space left on device, write`), { code });
  const { cause, message } = infrastructureFailure(error);
  expect(cause).toBe('disk_full');
  expect(failureCauses).toContain(cause);
  expect(message).toContain('Free some space');
});
