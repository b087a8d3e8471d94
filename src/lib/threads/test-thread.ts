/** A thread for tests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../errors.ts';
import { answerCalls } from './answer-calls.ts';

export type TestCall = 'answer' | 'wait' | 'fail' | 'fail as a user does' | 'end';

answerCalls<TestCall, string>(async (call, signal) => {
  switch (call) {
    case 'answer':
      return 'an answer';
    case 'wait':
      return await sleep(60_000, 'waited', { signal }).catch(() => 'stopped');
    case 'fail':
      throw Object.assign(new RangeError('too far'), { code: 'EFAR' });
    case 'fail as a user does':
      throw new UserError('bad_value', 'That is no number.', 'Give a number.');
    case 'end':
      process.exit(1);
  }
});
