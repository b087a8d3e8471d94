import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { say, secondsSince, withProgress } from './script.mjs';

/**
 * What mlab needs of the system besides Node: how to detect it, and the packages that provide it. `present` must be
 * fast: it runs before every `npm start` and `npm test`.
 */
const needs = [
  {
    what: 'bubblewrap (confines what agents run)',
    platforms: ['linux'],
    present: () => isOnPath('bwrap'),
    packages: { apt: ['bubblewrap'], dnf: ['bubblewrap'], pacman: ['bubblewrap'] },
  },
  {
    what: 'Python 3.10 or newer with venv (runs the tasks)',
    platforms: ['linux', 'darwin'],
    present: hasPython,
    packages: { apt: ['python3', 'python3-venv'], dnf: ['python3'], pacman: ['python'] },
  },
  {
    what: 'Linux (agents run in Linux sandboxes)',
    platforms: ['darwin'],
    present: () => false,
    packages: {},
    otherwise:
      'run mlab in a Linux virtual machine, for example with Lima: limactl start && limactl shell default',
  },
];

const managers = [
  { name: 'apt', program: 'apt-get', install: ['apt-get', 'install', '-y', '--no-install-recommends'] },
  { name: 'dnf', program: 'dnf', install: ['dnf', 'install', '-y'] },
  { name: 'pacman', program: 'pacman', install: ['pacman', '-S', '--noconfirm', '--needed'] },
];

/**
 * Installs missing packages if that is possible without a question (apt, as root or with a sudo that needs no
 * password), else prints the one command that does it. Never throws: whatever does not need the missing part still
 * works. Resolves with what is still missing.
 */
export async function installSystemPackages() {
  const missing = needs.filter((need) => need.platforms.includes(process.platform) && !need.present());
  for (const need of missing) {
    if (!(await installQuietly(need)) || !need.present())
      say(`Missing: ${need.what}. To fix it: ${fixingCommand(need)}`);
  }
  return missing.filter((need) => !need.present()).map((need) => need.what);
}

async function installQuietly(need) {
  const packages = need.packages.apt;
  const prefix = rootPrefix();
  if (packages === undefined || prefix === null || !isOnPath('apt-get')) return false;
  const names = packages.join(' and ');
  say(`Installing ${names} (apt-get) …`);
  const start = performance.now();
  const apt = (...args) => runApt([...prefix, 'apt-get', '-q', '-o', 'DPkg::Lock::Timeout=120', ...args]);
  const install = () => apt('install', '-y', '--no-install-recommends', ...packages);
  // Package lists are missing or stale on many fresh machines; always fetching them first would slow down all others.
  const failure = await withProgress(
    () => names,
    async () => {
      const first = await install();
      return first !== null && (await apt('update')) === null ? await install() : first;
    },
  );
  if (failure !== null) {
    say(`apt-get failed:\n${failure}`);
    return false;
  }
  say(`Installed ${names} in ${secondsSince(start)}.`);
  return true;
}

/** The prefix for a command that needs root; null if it would ask for a password. */
function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  return isOnPath('sudo') && run(['sudo', '-n', 'true']).status === 0 ? ['sudo', '-n'] : null;
}

function fixingCommand(need) {
  if (need.otherwise !== undefined) return need.otherwise;
  const manager = managers.find(({ program }) => isOnPath(program));
  if (manager === undefined) return "install it with your system's package manager";
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo'];
  return [...asRoot, ...manager.install, ...need.packages[manager.name]].join(' ');
}

/** Debian's python3 comes without ensurepip, and then can't make environments. */
function hasPython() {
  const probe = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))';
  const names = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3.10', 'python'];
  return names.some((name) => isOnPath(name) && run([name, '-c', probe]).status === 0);
}

function isOnPath(program) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.some((folder) => folder !== '' && existsSync(join(folder, program)));
}

function run([program, ...args]) {
  return spawnSync(program, args, { stdio: 'ignore' });
}

/** Null, or its output if it failed. */
function runApt([program, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
    child.once('error', (error) => resolve(error.message));
    child.once('close', (status) => resolve(status === 0 ? null : said.trim()));
  });
}
