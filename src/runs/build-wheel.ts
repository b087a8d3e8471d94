import { basename } from 'node:path';
import { createSandbox, giveToAgent, SandboxError, type SandboxSpec, trySandbox } from '../sandbox/index.ts';
import type { SandboxDriver } from '../schema/index.ts';
import type { WheelRequest } from '../tasks/index.ts';

const inside = { source: '/source', wheels: '/wheels' };
const megabyte = 2 ** 20;
/** Compilers need time. */
const maxMs = 30 * 60 * 1000;
const keptCharacters = 64 * 1024;
const mostLoggedBytes = 64 * megabyte;

/**
 * Builds the wheel of a source package in a sandbox: its code sees the package, the environment of its tools and the
 * system, and has no network.
 * @throws SandboxError if no sandbox works here
 */
export async function buildWheel({ source, wheels, python, onOutput, signal }: WheelRequest) {
  const driver = await workingDriver();
  await giveToAgent(driver, wheels);
  await using sandbox = await createSandbox(driver, specOf({ source, wheels, python }));
  const place = (path: string) => sandbox.pathInside(path);
  let output = '';
  let bytes = 0;
  const process = await sandbox.start(
    [
      ...(['python', '-I', '-m', 'pip', 'wheel', '--no-input', '--disable-pip-version-check'] as const),
      ...['--no-index', '--no-deps', '--no-build-isolation', '--no-cache-dir'],
      ...['--wheel-dir', place(inside.wheels), place(`${inside.source}/${basename(source)}`)],
    ],
    {
      ...{ stdin: 'none', timeoutMs: maxMs, signal },
      onOutput: (chunk) => {
        bytes += chunk.length;
        if (bytes <= mostLoggedBytes) onOutput(chunk);
        output = (output + chunk.toString('utf8')).slice(-keptCharacters);
      },
    },
  );
  const end = await process.ended;
  signal?.throwIfAborted();
  if (end.ending !== 'exited') output += `\n${end.ending.replaceAll('_', ' ')}\n`;
  return { exitCode: end.ending === 'exited' ? end.exitCode : null, output };
}

function specOf({ source, wheels, python }: Pick<WheelRequest, 'source' | 'wheels' | 'python'>): SandboxSpec {
  return {
    mounts: [
      { source: wheels, target: inside.wheels, access: 'write' },
      { source, target: `${inside.source}/${basename(source)}`, access: 'read' },
    ],
    ...{ hide: [], withheld: [], concealed: [] },
    workingDirectory: inside.wheels,
    variables: {},
    python: { environment: python.environment, basePrefix: python.basePrefix },
    limits: {
      ...{ memoryBytes: 6144 * megabyte, processes: 256 },
      ...{ fileBytes: 1024 * megabyte, temporaryBytes: 2048 * megabyte },
    },
    watch: { folder: wheels, maxBytes: 2048 * megabyte },
  };
}

/** The first driver that confines on this machine. */
async function workingDriver(): Promise<SandboxDriver> {
  try {
    await trySandbox('bubblewrap');
    return 'bubblewrap';
  } catch (error) {
    if (!SandboxError.isInstance(error)) throw error;
    const hasDocker = await trySandbox('docker').then(
      () => true,
      () => false,
    );
    if (hasDocker) return 'docker';
    throw error;
  }
}
