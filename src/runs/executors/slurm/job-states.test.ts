import { describe, expect, test } from 'vitest';
import { hasEnded, mayBeGivenAgain } from '../arrays/job-state.ts';
import { parseAccounting, parseQueue } from './job-states.ts';

/** As Slurm 22.05 prints it, without what mlab does not read. */
const of2205 = {
  jobs: [
    {
      array_job_id: 7,
      array_task_id: 0,
      array_task_string: '',
      job_id: 9,
      job_state: 'RUNNING',
      name: 'a',
      nodes: 'n1',
      restart_cnt: 2,
      state_reason: 'None',
    },
    {
      array_job_id: 7,
      array_task_id: null,
      array_task_string: '2-3,5%4',
      job_id: 7,
      job_state: 'PENDING',
      name: 'a',
      nodes: '',
      restart_cnt: 0,
      state_reason: 'JobArrayTaskLimit',
    },
    {
      array_job_id: 0,
      array_task_id: null,
      array_task_string: '',
      job_id: 11,
      job_state: 'RUNNING',
      name: 'other',
      nodes: 'n2',
      restart_cnt: 0,
      state_reason: 'None',
    },
  ],
};
const number = (value: number) => ({ set: true, infinite: false, number: value });
const unset = { set: false, infinite: false, number: 0 };
/** The same as data_parser v0.0.40 and later print it. */
const of2405 = {
  jobs: [
    {
      array_job_id: number(7),
      array_task_id: number(0),
      array_task_string: '',
      job_id: 9,
      job_state: ['RUNNING', 'COMPLETING'],
      name: 'a',
      nodes: 'n1',
      restart_cnt: 2,
      state_reason: 'None',
    },
    {
      array_job_id: number(7),
      array_task_id: unset,
      array_task_string: '2-3,5%4',
      job_id: 7,
      job_state: ['PENDING'],
      name: 'a',
      nodes: '',
      restart_cnt: 0,
      state_reason: 'JobArrayTaskLimit',
    },
    {
      array_job_id: number(0),
      array_task_id: unset,
      array_task_string: '',
      job_id: 11,
      job_state: ['RUNNING'],
      name: 'other',
      nodes: 'n2',
      restart_cnt: 0,
      state_reason: 'None',
    },
  ],
};

describe('what Slurm says of its jobs', () => {
  test.each([
    ['22.05', of2205],
    ['24.05', of2405],
  ])('is understood as version %s prints it: jobs of arrays by number and index', (_, queue) => {
    const running = { state: 'RUNNING', reason: '', nodes: 'n1', restarts: 2, name: 'a' };
    const waiting = { state: 'PENDING', reason: 'JobArrayTaskLimit', nodes: '', restarts: 0, name: 'a' };
    expect([...parseQueue(JSON.stringify(queue))]).toEqual([
      ['7_0', running],
      ...['7_2', '7_3', '7_5'].map((key) => [key, waiting]),
    ]);
  });

  test('is understood from accounting, too', () => {
    const job = {
      array: { job_id: 7, task_id: number(3) },
      state: { current: ['NODE_FAIL'], reason: 'None' },
      nodes: 'n1',
    };
    const states = parseAccounting(JSON.stringify({ jobs: [job] }));
    expect(states.get('7_3')).toMatchObject({ state: 'NODE_FAIL', nodes: 'n1' });
    expect([...states.values()].every(hasEnded)).toBe(true);
  });

  test('tells a job that could not be launched, which is submitted again, from one whose program failed', () => {
    const [job] = of2205.jobs;
    const ofReason = (state_reason: string) => {
      const jobs = [{ ...job, job_state: 'FAILED', state_reason }];
      return [...parseQueue(JSON.stringify({ jobs })).values()].map(mayBeGivenAgain);
    };
    expect(ofReason('JobLaunchFailure')).toEqual([true]);
    expect(ofReason('NonZeroExitCode')).toEqual([false]);
  });

  test('is refused where it is something else', () => {
    expect(() => parseQueue('{"jobs": [{"array_job_id": "7"}]}')).toThrow();
    expect(() => parseQueue('squeue: error')).toThrow();
  });
});
