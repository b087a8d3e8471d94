import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join, sep } from 'node:path';
import { SetUpError, say, secondsSince, withProgress } from './script.mjs';

/**
 * The settings that decide which packages are installed and where, fixed here so that no npm configuration of a user, a
 * machine or the environment changes them. Where packages come from is not fixed: registry, proxy, certificates, keys,
 * cache. No package needs its install script.
 */
const asLocked = [
  ...['--include=optional', '--include=peer', '--install-strategy=hoisted', '--bin-links'],
  ...['--no-package-lock-only', '--no-dry-run', '--no-global', '--location=project'],
  ...['--no-legacy-peer-deps', '--ignore-scripts'],
  // The Node that runs npm may be too old for some packages: they run in another.
  '--no-engine-strict',
  ...['--no-audit', '--no-update-notifier', '--loglevel=error'],
];

/**
 * Installs the npm packages of package-lock.json.
 * @param {{ folder: string, what: string, megabytes: number, production?: boolean, inUse?: boolean }} packages
 *   `megabytes`: what npm downloads with an empty cache; `production`: without those for development; `inUse`: a process
 *   may run from those that are there, so they stay, and the others are added; default: if an installation was completed
 */
export async function installPackages(packages) {
  const { folder, what, megabytes, production = false } = packages;
  const { inUse = existsSync(listOfInstalled(folder)) } = packages;
  say(`Installing ${what}: ${megabytes} MB to download, less what is in npm's cache.`);
  const start = performance.now();
  const argv = [
    ...(inUse ? ['install', '--no-save', '--package-lock'] : ['ci']),
    production ? '--omit=dev' : '--include=dev',
  ];
  await withProgress(progressOf(folder, what, production), () => runNpm(argv, folder, what));
  say(`Installed ${what} in ${secondsSince(start)}.`);
}

async function runNpm(argv, folder, what) {
  const child = spawn('npm', [...argv, ...asLocked], {
    cwd: folder,
    env: { ...process.env, PATH: pathWithoutPackages() },
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: process.platform === 'win32',
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  const ended = new Promise((resolve, reject) => {
    child.once('error', (error) =>
      reject(new SetUpError(`npm could not be started (${error.message}): install Node with npm.`)),
    );
    child.once('close', resolve);
  });
  const letGo = endWith(child, ended);
  const code = await ended.finally(letGo);
  if (code === 0) return;
  // The process is about to end: an error of npm would say nothing new.
  if (isStopping) await new Promise(() => {});
  const cause = /\b(?:ENOTEMPTY|EEXIST|EBUSY)\b/.test(said)
    ? 'Another npm may be at work in this folder, or have been stopped there: wait for it, then try again.'
    : 'Without a network it needs a filled npm cache.';
  throw new SetUpError(`${said.trim()}\nnpm could not install ${what}. ${cause}`);
}

/** After this long, npm is killed: it goes on for a while after it was told to stop. */
const patienceMs = 2_000;
/** Each installs packages, in a folder of its own. */
const running = new Set();
let isStopping = false;

/**
 * If this process is told to stop, npm stops first: two in one folder disturb each other.
 * @returns a function that ends this
 */
function endWith(child, ended) {
  running.add(child);
  const stop = async (signal) => {
    isStopping = true;
    child.kill(signal);
    const late = setTimeout(() => child.kill('SIGKILL'), patienceMs);
    await ended.catch(() => {});
    clearTimeout(late);
    running.delete(child);
    if (running.size === 0) process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  const signals = ['SIGINT', 'SIGTERM'];
  for (const signal of signals) process.once(signal, stop);
  return () => {
    running.delete(child);
    for (const signal of signals) process.off(signal, stop);
  };
}

/** Returns `214 of 316 npm packages`; for packages of some platforms only, their name. */
function progressOf(folder, what, production) {
  const needed = Object.entries(lockedPackages(join(folder, 'package-lock.json')) ?? {})
    .filter(([path, entry]) => path !== '' && !isOptional(entry) && !(production && entry.dev === true))
    .map(([path]) => join(folder, path, 'package.json'));
  if (needed.length === 0) return () => what;
  return () => `${needed.filter((manifest) => existsSync(manifest)).length} of ${needed.length} ${what}`;
}

/**
 * Whether what npm last installed (it keeps a list in node_modules) is what package-lock.json asks for. Optional
 * packages may be absent: they are for other platforms.
 * @param production those for development may be absent, too
 */
export function packagesAreCurrent(root, production = false) {
  const wanted = lockedPackages(join(root, 'package-lock.json'));
  const installed = lockedPackages(listOfInstalled(root));
  if (wanted === null || installed === null) return false;
  const same = ([path, entry]) => {
    const found = installed[path];
    if (found === undefined) return isOptional(entry) || (production && entry.dev === true);
    return found.version === entry.version && found.integrity === entry.integrity;
  };
  const superfluous = Object.keys(installed).some((path) => !(path in wanted));
  return !superfluous && Object.entries(wanted).every((entry) => entry[0] === '' || same(entry));
}

/** npm writes it at the end of an installation. */
function listOfInstalled(root) {
  return join(root, 'node_modules', '.package-lock.json');
}

function isOptional(entry) {
  return entry.optional === true || entry.devOptional === true;
}

function lockedPackages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages ?? null;
  } catch {
    return null;
  }
}

/** npm must not run in a Node that it is about to replace. */
function pathWithoutPackages() {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.split(sep).includes('node_modules'))
    .join(delimiter);
}
