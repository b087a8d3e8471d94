import { expect, test } from 'vitest';
import { exampleRecord, exampleSpec } from '../../test/fixtures/store/examples.ts';
import { BranchId } from '../schema/index.ts';
import { logProgress } from './log-events.ts';

test('a run that waits for a decision is logged as waiting, and not as ended', () => {
  const events: [string, unknown][] = [];
  const log = logProgress({
    isOnStandardError: false,
    write: (_level, event, { actions }) => void events.push([event, actions]),
    [Symbol.asyncDispose]: async () => {},
  });
  const run = exampleSpec();
  const waits_for = [{ branch: BranchId.parse('main'), step: 1, action: 'Edit File', decision: 'x' }];
  log({ kind: 'run_ended', run, record: exampleRecord({ status: 'waiting', waits_for }) });
  log({ kind: 'run_ended', run, record: exampleRecord({ status: 'finished' }) });
  expect(events).toEqual([
    ['run_waits_for_decision', 1],
    ['run_ended', undefined],
  ]);
});
