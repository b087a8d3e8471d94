import { hierarchies } from './cgroup-files.ts';
import { cgroupV1 } from './cgroup-v1.ts';
import { cgroupV2 } from './cgroup-v2.ts';
import { type Limiter, ungrouped } from './limiter.ts';

let known: Promise<Limiter> | null = null;

/** The best mechanism that works for this user here. Tried once. */
export function findLimiter(): Promise<Limiter> {
  known ??= tryLimiters();
  return known;
}

async function tryLimiters(): Promise<Limiter> {
  const found = hierarchies();
  return (await cgroupV2(found)) ?? (await cgroupV1(found)) ?? ungrouped;
}
