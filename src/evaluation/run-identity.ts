import type { RunRecord, RunSpec, RunStatus } from '../schema/index.ts';
import type { RunFolder } from '../store/index.ts';

/**
 * The agent with its model and options, as people read it: `research(openai/gpt-5, profile=paper)`. One that is given
 * lessons of other runs is another agent than without.
 */
export function agentLabel({
  agent,
  model,
  agent_options: options,
  experience = [],
}: Pick<RunSpec, 'agent' | 'model' | 'agent_options' | 'experience'>): string {
  const chosen = Object.entries(options).map(([name, value]) => `${name}=${String(value)}`);
  const inside = [...(model === null ? [] : [model]), ...chosen, ...(experience.length > 0 ? ['warm'] : [])];
  return inside.length === 0 ? agent : `${agent}(${inside.join(', ')})`;
}

/** What the record says, but for a run whose process is gone without having said so. */
export function statusOf(folder: RunFolder, record: RunRecord | null): RunStatus {
  if (record === null) return 'pending';
  if (record.status === 'running' && folder.holder() === null) return 'interrupted';
  return record.status;
}
