import type { SandboxSpec } from '../sandbox/index.ts';
import { concealedBy } from '../tasks/index.ts';
import type { LocalServicesOptions } from './options.ts';

/** The path of local services' sockets inside a sandbox. */
export const servicesInside = '/services';
const memoryBytes = 2 ** 30;

/** What a service sees: the task's hidden files and data, read-only, and the folder for its socket. */
export function serviceSandbox(
  { task, prepared, python, concealed, helpersFolder, driver }: LocalServicesOptions,
  socketsFolder: string,
): SandboxSpec {
  const readable = {
    '/task/hidden': task.hiddenFolder,
    '/public': prepared.publicFolder,
    '/private': prepared.privateFolder,
    '/mlab': helpersFolder,
  };
  const mounts = Object.entries(readable).map(([target, source]) => ({
    source,
    target,
    access: 'read' as const,
  }));
  return {
    mounts: [...mounts, { source: socketsFolder, target: servicesInside, access: 'write' }],
    hide: [],
    withheld: [],
    concealed: [...concealed, ...concealedBy(task, prepared)],
    workingDirectory: '/tmp',
    variables: { MLAB_HELPERS: driver === 'none' ? helpersFolder : '/mlab' },
    python: { environment: python.environment, basePrefix: python.basePrefix },
    limits: { memoryBytes, processes: 64, fileBytes: 2 ** 28, temporaryBytes: 2 ** 26 },
    watch: null,
  };
}
