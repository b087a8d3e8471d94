import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join, sep } from 'node:path';
import { packageRoot } from './project-node.mjs';
import { SetUpError, say, secondsSince } from './script.mjs';

/** Installs the npm packages of package-lock.json, unless node_modules holds exactly these already. */
export function installPackages(root = packageRoot) {
  if (packagesAreCurrent(root)) return;
  say('Installing npm packages (npm ci) …');
  const start = performance.now();
  // Warnings are left out: a Node that is too old for some packages is expected, they run in the project's own.
  const { error, status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    env: { ...process.env, PATH: pathWithoutPackages() },
    stdio: ['ignore', 'ignore', 2],
    shell: process.platform === 'win32',
  });
  if (error !== undefined)
    throw new SetUpError(`npm could not be started (${error.message}): install Node with npm.`);
  if (status !== 0) {
    throw new SetUpError('npm ci failed: see above. Without a network it needs a filled npm cache.');
  }
  say(`npm packages installed in ${secondsSince(start)}.`);
}

/**
 * Whether what npm last installed (it keeps a list in node_modules) is what package-lock.json asks for. Optional
 * packages may be absent: they are for other platforms.
 */
export function packagesAreCurrent(root) {
  const wanted = lockedPackages(join(root, 'package-lock.json'));
  const installed = lockedPackages(join(root, 'node_modules', '.package-lock.json'));
  if (wanted === null || installed === null) return false;
  const same = ([path, entry]) => {
    const found = installed[path];
    if (found === undefined) return entry.optional === true || entry.devOptional === true;
    return found.version === entry.version && found.integrity === entry.integrity;
  };
  const superfluous = Object.keys(installed).some((path) => !(path in wanted));
  return !superfluous && Object.entries(wanted).every((entry) => entry[0] === '' || same(entry));
}

function lockedPackages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages ?? null;
  } catch {
    return null;
  }
}

/** npm must not run in the Node that it is about to replace. */
function pathWithoutPackages() {
  const inPackages = (folder) => folder.endsWith(`${sep}node_modules${sep}.bin`);
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !inPackages(folder))
    .join(delimiter);
}
