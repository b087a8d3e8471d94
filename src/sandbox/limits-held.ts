import type { SandboxDriver } from '../schema/index.ts';
import { findUserSwitch } from './agent-user.ts';
import { findProgram } from './find-program.ts';
import { findLimiter } from './limits/find-limiter.ts';

/** How a sandbox's limits are enforced here, and as which user agent code runs, in words: recorded with every run. */
export async function limitsHeld(driver: SandboxDriver): Promise<Record<string, string>> {
  const isRoot = process.getuid?.() === 0;
  if (driver === 'docker') {
    const held = 'container engine';
    return {
      memory_held_by: held,
      processes_held_by: held,
      agent_user: isRoot ? 'user without account' : "harness's user",
    };
  }
  const { mechanism } = await findLimiter();
  const isGrouped = mechanism !== 'rlimits and watchdog';
  const program = driver === 'bubblewrap' ? findProgram('bwrap') : null;
  const switches = program !== null && (await findUserSwitch(program)) !== null;
  return {
    memory_held_by: isGrouped ? mechanism : 'watchdog',
    processes_held_by: isGrouped ? mechanism : driver === 'none' ? 'watchdog' : 'rlimits and watchdog',
    agent_user: switches ? 'user without account' : isRoot ? 'root' : "harness's user",
  };
}
