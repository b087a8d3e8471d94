/**
 * Builds the pages of the viewer into viewer/dist: for a web server, and as the single file of `mlab report --format
 * html`. Does nothing if they are newer than their sources.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './project-node.mjs';
import { isProgram, runScript, SetUpError, say, secondsSince } from './script.mjs';
import { installProject } from './setup.mjs';

const made = ['viewer/dist/index.html', 'viewer/dist/report.html'];
const madeOf = [
  'viewer/src',
  'viewer/index.html',
  'viewer/vite.config.ts',
  'src/schema',
  'package-lock.json',
];

/** Installs what building them needs, where it is missing. */
export async function buildViewer() {
  if (isFresh()) return;
  // mlab itself may be waiting for this.
  const { path: nodePath } = await installProject({ inUse: true });
  const start = performance.now();
  for (const mode of ['production', 'report']) build(nodePath, mode);
  say(`The viewer's pages are built (${secondsSince(start)}).`);
}

function build(nodePath, mode) {
  const vite = join(packageRoot, 'node_modules/vite/bin/vite.js');
  // Standard output belongs to `npm pack --json`.
  const { status } = spawnSync(nodePath, [vite, 'build', 'viewer', '--mode', mode, '--logLevel', 'warn'], {
    cwd: packageRoot,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  if (status !== 0) throw new SetUpError("The viewer's pages could not be built: see above.");
}

function isFresh() {
  const files = made.map((file) => join(packageRoot, file));
  if (!files.every((file) => existsSync(file))) return false;
  const oldest = Math.min(...files.map((file) => statSync(file).mtimeMs));
  return madeOf.every((path) => newestIn(join(packageRoot, path)) <= oldest);
}

/** The last change of the file itself, or of the newest file in the folder. */
function newestIn(path) {
  const found = statSync(path);
  if (!found.isDirectory()) return found.mtimeMs;
  return Math.max(...readdirSync(path).map((name) => newestIn(join(path, name))));
}

if (isProgram(import.meta.url)) {
  await runScript(async () => {
    await buildViewer();
    return 0;
  });
}
