import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TestCall } from '../../../test/fixtures/calling-thread.ts';
import { UserError } from '../errors.ts';
import { CallingThread } from './calling-thread.ts';

const module = join(import.meta.dirname, '../../../test/fixtures/calling-thread.ts');
const threadFor = () => new CallingThread<TestCall, string>(module, 'tests');

test('calls are answered, also while others wait', async () => {
  const thread = threadFor();
  const control = new AbortController();
  const waits = thread.call('wait', control.signal);
  expect(await thread.call('answer')).toBe('an answer');
  expect(thread.waiting).toBe(1);
  control.abort();
  expect(await waits).toBe('stopped');
  expect(thread.waiting).toBe(0);
});

test('errors of the thread arrive as what they were', async () => {
  const thread = threadFor();
  await expect(thread.call('fail')).rejects.toMatchObject({
    ...{ name: 'RangeError', message: 'too far', code: 'EFAR' },
    stack: expect.stringContaining('fixtures/calling-thread.ts'),
  });
  const error: unknown = await thread.call('fail as a user does').catch((thrown: unknown) => thrown);
  expect(UserError.isInstance(error)).toBe(true);
  expect(error).toMatchObject({ code: 'bad_value', hint: 'Give a number.' });
});

test('calls fail when the thread ends, and the next one starts another', async () => {
  const thread = threadFor();
  const waits = thread.call('wait');
  const ends = thread.call('end');
  await expect(waits).rejects.toThrow('A thread that tests has ended.');
  await expect(ends).rejects.toThrow('A thread that tests has ended.');
  expect(thread.isRunning).toBe(false);
  expect(await thread.call('answer')).toBe('an answer');
});

test('a process waits for a call, but not for an idle thread', () => {
  const source = `
    const { CallingThread } = await import(${JSON.stringify(join(import.meta.dirname, 'calling-thread.ts'))});
    const thread = new CallingThread(${JSON.stringify(module)}, 'tests');
    thread.call('answer').then(console.log);`;
  expect(execFileSync(process.execPath, ['--eval', source], { encoding: 'utf8' })).toBe('an answer\n');
});
