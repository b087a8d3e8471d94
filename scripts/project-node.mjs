/**
 * Which Node runs mlab. Plain JavaScript without dependencies: it runs on any Node ≥ 20 and before anything is
 * installed, in the checkout as well as in the installed package.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json: the checkout or the installed package. */
export const packageRoot = dirname(dirname(fileURLToPath(import.meta.url)));

export const neededNode = '22.18';

/** Whether a Node of this version (`process.versions.node`) runs TypeScript sources as they are, without a flag. */
export function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major === 22) return minor >= 18;
  if (major === 23) return minor >= 6;
  return major >= 24;
}

/** What a Node says of its version, or null where the file does not run (missing, a placeholder, another platform's). */
function versionOf(path) {
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 20_000 });
  return status === 0 && /^v\d+\.\d+/.test(stdout) ? stdout.trim().slice(1) : null;
}

/**
 * The project's own Node: the npm package `node`, as this package sees it (nested or hoisted). Its program is put
 * there by an install script, so it is missing after `--ignore-scripts` and where no packaged Node exists.
 */
export function findOwnNode(root = packageRoot) {
  let manifest;
  try {
    manifest = createRequire(join(root, 'package.json')).resolve('node/package.json');
  } catch {
    return null;
  }
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8'));
  const path = join(dirname(manifest), typeof bin === 'string' ? bin : (bin?.node ?? 'bin/node'));
  const version = existsSync(path) ? versionOf(path) : null;
  return version !== null && isNewEnough(version) ? { path, version, origin: 'project' } : null;
}

/** A Node that is new enough: the one that runs this, else the first on PATH. */
export function findSystemNode(path = process.env.PATH ?? '') {
  if (isNewEnough(process.versions.node)) {
    return { path: process.execPath, version: process.versions.node, origin: 'system' };
  }
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  for (const folder of new Set(path.split(delimiter).filter((entry) => entry !== ''))) {
    const candidate = join(folder, name);
    const version = existsSync(candidate) ? versionOf(candidate) : null;
    if (version !== null && isNewEnough(version)) return { path: candidate, version, origin: 'system' };
  }
  return null;
}

/** The Node to use, `{ path, version, origin }`, or null; then `missingNodeMessage` says what to do. */
export function findNode() {
  return findOwnNode() ?? findSystemNode();
}

export function missingNodeMessage() {
  return [
    `mlab needs Node ${neededNode} or newer; this is ${process.versions.node}, and there is no newer one on PATH.`,
    'The package brings a Node of its own, but its install script did not run or has none for this platform. Either',
    `  - let that script run, in ${installFolder()}:  npm rebuild node --ignore-scripts=false`,
    '    (where npm then speaks of allowScripts:  npm install-scripts approve node  first),',
    `  - or install Node ${neededNode} or newer (https://nodejs.org/en/download) and try again.`,
  ].join('\n');
}

/** The folder whose node_modules this package lies in; the checkout itself when it lies in none. */
function installFolder() {
  const parts = packageRoot.split(/[\\/]node_modules[\\/]/);
  return parts[0] ?? packageRoot;
}
