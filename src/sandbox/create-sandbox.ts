import type { SandboxDriver } from '../schema/index.ts';
import { bubblewrapSandbox } from './bubblewrap.ts';
import { findLimiter } from './limits/find-limiter.ts';
import type { Limiter } from './limits/limiter.ts';
import type { Sandbox, SandboxSpec } from './sandbox.ts';

/** What a caller may choose. */
export interface SandboxOptions {
  /** What limits memory and processes; default: the best that serves here. */
  limiter?: Limiter;
}

export async function createSandbox(
  driver: SandboxDriver,
  spec: SandboxSpec,
  options: SandboxOptions = {},
): Promise<Sandbox> {
  const limiter = options.limiter ?? findLimiter();
  switch (driver) {
    case 'bubblewrap':
      return bubblewrapSandbox(spec, limiter);
    default:
      throw new Error('soon');
  }
}
