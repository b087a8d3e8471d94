import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { UserError } from '../src/lib/errors.ts';
import type { TaskResources } from '../src/runs/index.ts';
import { checkSandbox } from '../src/sandbox/index.ts';
import { ensurePython, loadTask, prepareTask } from '../src/tasks/index.ts';

const projectFolder = join(import.meta.dirname, '..');

/** Python helpers that sandboxed scripts and graders use. */
export const helpersFolder = join(projectFolder, 'python');
export const launcher = join(projectFolder, 'bin/mlab.mjs');

/** The task of the runs here, which takes milliseconds and needs no packages and no download. */
export async function provision(cache: string, signal: AbortSignal): Promise<TaskResources> {
  const task = loadTask('bench-line', [join(import.meta.dirname, 'tasks')]);
  const python = await ensurePython(task.requirements, { cache, signal });
  const prepared = await prepareTask(task, {
    ...{ cache, python, signal },
    helpers: helpersFolder,
    allowUnverified: false,
  });
  return { task, python, prepared, concealed: [] };
}

/** @throws UserError if this machine can't confine commands: then nothing that runs untrusted commands is measured */
export async function requireSandbox(): Promise<void> {
  const obstacle = (await checkSandbox()).find(({ state }) => state === 'missing');
  if (obstacle === undefined) return;
  throw new UserError('no_sandbox', obstacle.detail, obstacle.fix ?? 'mlab doctor tells more.');
}

/** @throws UserError `no_pages` */
export function buildPages(): void {
  const builder = join(projectFolder, 'scripts/build-viewer.mjs');
  // Standard output is for the numbers.
  const { status } = spawnSync(process.execPath, [builder], { stdio: ['ignore', 2, 'inherit'] });
  if (status !== 0) throw new UserError('no_pages', 'The pages could not be built.', 'npm run build:viewer');
}
