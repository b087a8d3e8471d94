import type { V1Job, V1Pod } from '@kubernetes/client-node';
import { indicesOf } from '../arrays/indices.ts';
import type { JobState, JobStates } from '../arrays/job-state.ts';

const indexAnnotation = 'batch.kubernetes.io/job-completion-index';
const jobLabel = 'batch.kubernetes.io/job-name';

/** The state of each index: from its newest pod, and from the job's own count of finished ones. */
export function statesOf(jobs: readonly V1Job[], pods: readonly V1Pod[]): JobStates {
  const states: JobStates = new Map();
  for (const { metadata, spec, status } of jobs) {
    const name = metadata?.name ?? '';
    // A job that is being deleted creates no more pods.
    const state = metadata?.deletionTimestamp === undefined ? 'PENDING' : 'CANCELLED';
    const waiting = { state, reason: '', nodes: '', restarts: 0, name };
    const set = (index: number, changes: Partial<JobState>) =>
      states.set(`${name}_${index}`, { ...(states.get(`${name}_${index}`) ?? waiting), ...changes });
    for (let index = 0; index < (spec?.completions ?? 0); index += 1) set(index, {});
    for (const pod of pods.filter(({ metadata: each }) => each?.labels?.[jobLabel] === name)) {
      const index = Number(pod.metadata?.annotations?.[indexAnnotation] ?? -1);
      const before = states.get(`${name}_${index}`)?.restarts ?? 0;
      // Its job creates another pod, which will show where the index is.
      if (pod.status?.phase === 'Failed') set(index, { restarts: before + 1 });
      else set(index, podState(pod));
    }
    for (const index of indicesOf(status?.completedIndexes ?? '')) set(index, { state: 'COMPLETED' });
    for (const index of indicesOf(status?.failedIndexes ?? '')) set(index, { state: 'FAILED' });
    const failure = status?.conditions?.find(({ type, status: is }) => type === 'Failed' && is === 'True');
    if (failure === undefined) continue;
    // If a whole job has failed, none of its indices will begin any more.
    for (const [key, state] of states)
      if (state.name === name && state.state !== 'COMPLETED')
        states.set(key, { ...state, state: 'FAILED', reason: failure.reason ?? '' });
  }
  return states;
}

function podState({ spec, status }: V1Pod): Partial<JobState> {
  if (status?.phase === 'Running') return { state: 'RUNNING', nodes: spec?.nodeName ?? '' };
  const why = status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False');
  const stuck = status?.containerStatuses?.find(({ state }) => state?.waiting !== undefined)?.state?.waiting;
  return { reason: why?.reason ?? stuck?.reason ?? '' };
}
