import { hierarchies } from './cgroup-files.ts';
import { cgroupV1 } from './cgroup-v1.ts';
import { cgroupV2 } from './cgroup-v2.ts';
import { type Limiter, ungrouped } from './limiter.ts';

/** The best mechanism that serves this user here. */
export async function findLimiter(): Promise<Limiter> {
  const found = hierarchies();
  return (await cgroupV2(found)) ?? (await cgroupV1(found)) ?? ungrouped;
}
