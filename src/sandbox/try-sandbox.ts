import { tmpdir } from 'node:os';
import type { SandboxDriver } from '../schema/index.ts';
import { createSandbox, type SandboxOptions } from './create-sandbox.ts';
import type { Gpu } from './gpus/gpu.ts';
import type { Sandbox, SandboxSpec } from './sandbox.ts';

/**
 * Runs one command that does nothing, so that a host that can't confine is detected before any work begins.
 * @throws SandboxError saying why, and what fixes it
 */
export async function trySandbox(driver: SandboxDriver, options: SandboxOptions = {}): Promise<void> {
  await using sandbox = await createSandbox(driver, trialSpec, options);
  const { ended } = await sandbox.start(['true'], {
    stdin: 'none',
    onOutput: () => {},
    timeoutMs: null,
    signal: null,
  });
  await ended;
}

/** In a sandbox that shows nothing but the system and these GPUs. */
export async function withGpuSandbox<Result>(
  gpus: readonly Gpu[],
  use: (sandbox: Sandbox) => Promise<Result>,
): Promise<Result> {
  await using sandbox = await createSandbox('bubblewrap', { ...trialSpec, gpus });
  return await use(sandbox);
}

const trialSpec: SandboxSpec = {
  mounts: [],
  hide: [],
  withheld: [],
  concealed: [],
  workingDirectory: tmpdir() === '/tmp' ? '/tmp' : '/',
  variables: {},
  python: null,
  limits: { memoryBytes: 2 ** 30, processes: 64, fileBytes: 2 ** 20, temporaryBytes: 2 ** 20 },
  watch: null,
};
