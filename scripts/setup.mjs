/**
 * Prepares a fresh clone, and prints something only if there was something to do: installs npm packages, a Node if the
 * machine's is too old, and the system packages of the sandbox and the tasks. Run by `npm start`, `npm test` and `npm
 * run bench`; needs no network if everything is there. mlab makes Python environments when a task first needs one.
 */
import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { installPackages, packagesAreCurrent } from './npm-packages.mjs';
import {
  findOwnNode,
  findSystemNode,
  missingNodeMessage,
  neededNode,
  ownNodePackage,
  packageRoot,
} from './project-node.mjs';
import { isProgram, runScript, SetUpError, say } from './script.mjs';
import { installSystemPackages } from './system-packages.mjs';

/** The size of npm's downloads with an empty cache, on Linux with x64. A slow test measures it. */
export const megabytes = { packages: 195, production: 24, node: 51 };

/**
 * Returns `{ node: { path, version, origin }, missing: string[] }`; `missing` has been reported already.
 * @param options as for `installProject`
 */
export async function setUp(options = {}) {
  const [node, missing] = await Promise.all([installProject(options), installSystemPackages()]);
  return { node, missing };
}

/**
 * Installs the npm packages, and chooses the Node: the machine's if it is new enough, else one that is installed in
 * this checkout.
 * @param {{ production?: boolean, inUse?: boolean }} options as for `installPackages`
 */
export async function installProject({ production = false, inUse } = {}) {
  const system = findSystemNode();
  const packages = {
    ...{ folder: packageRoot, what: 'npm packages', production, inUse },
    megabytes: production ? megabytes.production : megabytes.packages,
  };
  await Promise.all([
    ...(packagesAreCurrent(packageRoot, production) ? [] : [installPackages(packages)]),
    ...(system === null ? [installOwnNode()] : []),
  ]);
  const node = system ?? findOwnNode();
  if (node === null) throw new SetUpError(missingNodeMessage());
  if (node.origin === 'project') linkForNpm(node.path);
  return node;
}

async function installOwnNode() {
  const own = ownNodePackage();
  if (own === null) throw new SetUpError(missingNodeMessage());
  // npm does not report that a package for one platform is missing, so check for it.
  if (packagesAreCurrent(own.folder) && findOwnNode() !== null) return;
  say(`There is no Node ${neededNode} or newer on this machine, so this checkout gets its own.`);
  await installPackages({ folder: own.folder, what: `Node ${own.version}`, megabytes: megabytes.node });
}

/** npm's scripts and npx look there before PATH, so `npx vitest` runs in this Node, too. */
function linkForNpm(path) {
  if (process.platform === 'win32') return;
  const link = join(packageRoot, 'node_modules/.bin/node');
  if (existsSync(link) && realpathSync(link) === realpathSync(path)) return;
  mkdirSync(dirname(link), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(relative(dirname(link), path), link);
}

if (isProgram(import.meta.url)) {
  await runScript(async () => ((await setUp()).missing.length === 0 ? 0 : 1));
}
