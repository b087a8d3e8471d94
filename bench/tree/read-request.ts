import { type Version, versionIn } from './version.ts';

/** What the agent's request says, as a model would read it. */
export interface TreeRequest {
  operator: string;
  /** How many changes it asks for at most. */
  changes: number;
  version: Version;
  /** The second version of a merge. */
  other: Version;
  /** The change that the output of a failed script names; null if it names none. */
  culprit: string | null;
  memory: Memory;
}

/** What the lines under "What was tried so far" say. */
export interface Memory {
  /** Changes that alone made a score better by more than the error that is stated. */
  good: Set<string>;
  /** Changes that alone did not make a score better, or that failed. */
  bad: Set<string>;
  approaches: Set<string>;
}

export function readRequest(text: string): TreeRequest {
  const [head = '', memory = ''] = text.split('## What was tried so far');
  const [first = '', second = ''] = head.split('## The second version');
  return {
    operator: /^## Your job: (\w+)$/m.exec(head)?.[1] ?? '',
    changes: Number(/^Make up to (\d+) changes /m.exec(first)?.[1] ?? 1),
    version: versionIn(first),
    other: versionIn(second),
    culprit: /^ {2}use\("([\w-]+)"\)$/m.exec(first.split('It failed.')[1] ?? '')?.[1] ?? null,
    memory: memoryIn(memory),
  };
}

const comparison =
  /^- \[\d+, \w+ of \d+\] (?<change>.*): (?:(?<sign>[+−])(?<gain>[\d.e-]+)(?: ± (?<error>[\d.e-]+))?|failed)/gm;

function memoryIn(text: string): Memory {
  const memory: Memory = { good: new Set(), bad: new Set(), approaches: new Set() };
  for (const { groups = {} } of text.matchAll(comparison)) {
    const { change = '', sign, gain, error } = groups;
    for (const [name] of change.matchAll(/approach-\d+/g)) memory.approaches.add(name);
    const alone = /^adds (change-\d+)(?:; repairs (?:\1|the code))*$/.exec(change)?.[1];
    if (alone === undefined) continue;
    if (sign !== '+' || Number(gain) === 0) memory.bad.add(alone);
    else if (Number(gain) > Number(error ?? 0)) memory.good.add(alone);
  }
  // What helped one version and harmed another is open.
  for (const name of memory.good) if (memory.bad.delete(name)) memory.good.delete(name);
  return memory;
}
