import { join } from 'node:path';
import { gpuVariables } from './gpus/gpu.ts';
import type { SandboxSpec } from './sandbox.ts';
import { insideUser } from './system-files.ts';

/** The complete environment of every command. */
export function variablesOf(spec: SandboxSpec): Record<string, string> {
  const folders = ['/usr/local/bin', '/usr/bin', '/bin'];
  if (spec.python !== null) folders.unshift(join(spec.python.environment, 'bin'));
  return {
    ...spec.variables,
    ...gpuVariables(spec.gpus ?? []),
    PATH: folders.join(':'),
    HOME: insideUser.home,
    TMPDIR: '/tmp',
    LANG: 'C.UTF-8',
    PYTHONUNBUFFERED: '1',
    PYTHONDONTWRITEBYTECODE: '1',
  };
}
