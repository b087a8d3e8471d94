import { expect, it } from 'vitest';
import { runProcess } from './run-process.ts';

it('ends a program whose output cannot be stored, and says why', async () => {
  const full = new Error('ENOSPC: no space left on device');
  const onOutput = () => {
    throw full;
  };
  const running = runProcess('/bin/sh', ['-c', 'echo one; sleep 20'], {
    variables: {},
    signal: null,
    onOutput,
  });
  await expect(running).rejects.toBe(full);
});
