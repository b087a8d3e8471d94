import { expect, test } from 'vitest';
import { exampleSpec } from '../../../../test/fixtures/store/examples.ts';
import { UserError } from '../../../lib/errors.ts';
import { type RunRecord, RunRecord as RunRecordSchema } from '../../../schema/index.ts';
import { adviceOf, isRefusal, refusalIn } from './suitable-workers.ts';

const failed = (cause: string, steps: number): RunRecord =>
  RunRecordSchema.parse({
    ...{ v: 2, spec: exampleSpec(), status: 'failed', versions: {}, host: {}, pid: 1 },
    ...{ started: 1, updated: 2, steps, seconds_used: 0 },
    end: { reason: 'infrastructure_error', cause, message: 'bubblewrap is not installed.' },
  });

test('what is wrong with a machine or its set-up is a reason to leave a job to others', () => {
  const errors = ['agent_not_found', 'key_missing', 'data_differs', 'EROFS', 'ENOSPC'];
  for (const code of errors) expect(isRefusal(Object.assign(new Error(), { code }))).toBe(true);
  for (const code of ['job_differs', 'lease_lost'])
    expect(isRefusal(new UserError(code, '', ''))).toBe(false);
});

test('a run that fails here before its first step may succeed elsewhere, one that has taken steps stays failed', () => {
  const refusal = refusalIn({ record: failed('sandbox', 0), problem: '' });
  expect(adviceOf(refusal)).toBe('bubblewrap is not installed.');
  expect(refusalIn({ record: failed('sandbox', 3), problem: '' })).toBeNull();
  expect(refusalIn({ record: failed('rate_limit', 0), problem: '' })).toBeNull();
  expect(refusalIn({ record: null, problem: null })).toBeNull();
});
