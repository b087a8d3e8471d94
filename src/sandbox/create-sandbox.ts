import type { SandboxDriver } from '../schema/index.ts';
import { bubblewrapSandbox } from './bubblewrap.ts';
import { dockerSandbox } from './docker.ts';
import { usualEngine } from './docker-engine.ts';
import { findLimiter } from './limits/find-limiter.ts';
import { type Limiter, ungrouped } from './limits/limiter.ts';
import { unconfinedSandbox } from './none.ts';
import { platformObstacle } from './platform.ts';
import { type Sandbox, SandboxError, type SandboxSpec } from './sandbox.ts';

/** Options besides the spec. */
export interface SandboxOptions {
  /** The command line of the docker driver; default: `docker`, or `podman` if it alone is installed. */
  dockerCommand?: string;
  /** An image for the docker driver, present on this host; default: the host's own system folders, read-only. */
  dockerImage?: string;
  /** What limits memory and processes, unless an engine does; default: the best mechanism that works here. */
  limits?: 'best' | 'rlimits';
}

/** The options for a run's spec and the host's container engine. */
export function sandboxOptions(
  spec: { docker_image?: string | undefined },
  dockerCommand: string | undefined,
): SandboxOptions {
  return {
    ...(dockerCommand === undefined ? {} : { dockerCommand }),
    ...(spec.docker_image === undefined ? {} : { dockerImage: spec.docker_image }),
  };
}

/**
 * Makes a sandbox.
 * @throws SandboxError if the driver can't confine here. It never falls back to another driver.
 */
export async function createSandbox(
  driver: SandboxDriver,
  spec: SandboxSpec,
  options: SandboxOptions = {},
): Promise<Sandbox> {
  const obstacle = driver === 'none' ? null : platformObstacle();
  if (obstacle !== null) throw new SandboxError(obstacle.reason, obstacle.fix);
  const limiter = async (): Promise<Limiter> => (options.limits === 'rlimits' ? ungrouped : findLimiter());
  switch (driver) {
    case 'bubblewrap':
      return bubblewrapSandbox(spec, await limiter());
    case 'docker':
      return dockerSandbox(spec, {
        command: options.dockerCommand || usualEngine(),
        image: options.dockerImage ?? null,
      });
    case 'none':
      return unconfinedSandbox(spec, await limiter());
  }
}
