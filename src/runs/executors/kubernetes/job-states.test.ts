import type { V1Job, V1JobStatus, V1Pod, V1PodStatus } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { statesOf } from './job-states.ts';

const jobOf = (completions: number, status: V1JobStatus = {}): V1Job => ({
  metadata: { name: 'mlab-a' },
  spec: { completions, template: {} },
  status,
});

const podOf = (index: number, status: V1PodStatus, job = 'mlab-a'): V1Pod => ({
  metadata: {
    labels: { 'batch.kubernetes.io/job-name': job },
    annotations: { 'batch.kubernetes.io/job-completion-index': String(index) },
  },
  spec: { containers: [], nodeName: 'node-1' },
  status,
});

const unschedulable: V1PodStatus = {
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
};

test('an index without a pod waits, one with a running pod is where its pod is', () => {
  const states = statesOf([jobOf(2)], [podOf(1, { phase: 'Running' }), podOf(0, unschedulable, 'mlab-b')]);
  expect(states.get('mlab-a_0')).toMatchObject({ state: 'PENDING', reason: '', name: 'mlab-a' });
  expect(states.get('mlab-a_1')).toMatchObject({ state: 'RUNNING', nodes: 'node-1' });
  expect(states.size).toBe(2);
});

test('why an index waits is told by its pod that is there, in whatever order earlier ones are listed', () => {
  const pods = [podOf(0, { phase: 'Failed' }), podOf(0, unschedulable), podOf(0, { phase: 'Failed' })];
  for (const order of [pods, pods.toReversed(), pods.slice(1)])
    expect(statesOf([jobOf(1)], order).get('mlab-a_0')).toMatchObject({
      ...{ state: 'PENDING', reason: 'Unschedulable' },
      restarts: order.length - 1,
    });
});

test('the count of the job says what is over, whether its pods are still there or not', () => {
  const states = statesOf([jobOf(5, { completedIndexes: '0-1,4', failedIndexes: '2' })], []);
  expect([...states.values()].map(({ state }) => state)).toEqual([
    ...['COMPLETED', 'COMPLETED', 'FAILED', 'PENDING', 'COMPLETED'],
  ]);
});

test('of a job that is given up, all that is not finished has failed, for its reason', () => {
  const conditions = [{ type: 'Failed', status: 'True', reason: 'DeadlineExceeded' }];
  const states = statesOf(
    [jobOf(2, { completedIndexes: '0', conditions })],
    [podOf(1, { phase: 'Running' })],
  );
  expect(states.get('mlab-a_0')).toMatchObject({ state: 'COMPLETED', reason: '' });
  expect(states.get('mlab-a_1')).toMatchObject({ state: 'FAILED', reason: 'DeadlineExceeded' });
});

test('a job that is being deleted is under way only where pods still run', () => {
  const job = jobOf(3, { completedIndexes: '2' });
  const deleted = { ...job, metadata: { ...job.metadata, deletionTimestamp: new Date() } };
  const states = statesOf([deleted], [podOf(0, { phase: 'Running' })]);
  const words = [0, 1, 2].map((index) => states.get(`mlab-a_${index}`)?.state);
  expect(words).toEqual(['RUNNING', 'CANCELLED', 'COMPLETED']);
});
