import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const module = pathToFileURL(join(import.meta.dirname, '../scripts/system-packages.mjs')).href;
let bin: string;

beforeEach(() => {
  bin = mkdtempSync(join(tmpdir(), 'mlab-system-'));
});
afterEach(() => rmSync(bin, { recursive: true, force: true }));

function program(name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

/** Installs on a system whose PATH has only the programs of this test. */
function install() {
  const script = `import { installSystemPackages } from '${module}'; console.log((await installSystemPackages()).length);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    env: { PATH: bin, FAKES: bin },
  });
  return { missing: Number(stdout), said: stderr };
}

/** An apt-get that records its arguments, and installs each package as a program of its name. */
const willingApt = `
  echo "$*" >> "$FAKES/apt.log"
  case "$*" in *bubblewrap*) echo '#!/bin/sh' > "$FAKES/bwrap" ;; esac
  case "$*" in *python3-venv*) printf '#!/bin/sh\\nexit 0\\n' > "$FAKES/python3"; /bin/chmod +x "$FAKES/python3" ;; esac`;
const sudoWithoutPassword = 'shift; exec "$@"';

describe.skipIf(process.platform !== 'linux')('system packages (Linux alone)', () => {
  test('that are installed are left alone, without a message', () => {
    program('bwrap', '');
    program('python3', 'exit 0');
    program('apt-get', willingApt);
    expect(install()).toEqual({ missing: 0, said: '' });
    expect(existsSync(join(bin, 'apt.log'))).toBe(false);
  });

  test('that are missing are installed with apt-get', () => {
    program('sudo', sudoWithoutPassword);
    program('apt-get', willingApt);
    const { missing, said } = install();
    expect(missing).toBe(0);
    expect(said).toContain('Installing bubblewrap');
    expect(said).toContain('Installing python3 and python3-venv');
    expect(readFileSync(join(bin, 'apt.log'), 'utf8')).not.toContain('update');
  });

  test('are searched again after apt-get update if the lists are stale', () => {
    program('sudo', sudoWithoutPassword);
    program('python3', 'exit 0');
    const stale = `case "$*" in *update*) echo > "$FAKES/lists" ;; esac\n[ -e "$FAKES/lists" ] || exit 100`;
    program('apt-get', `${stale}\n${willingApt}`);
    expect(install().missing).toBe(0);
  });

  test('that cannot be installed are named with the one command that installs them, and the rest continues', () => {
    program('sudo', 'exit 1');
    program('python3', 'exit 1');
    program('dnf', 'exit 1');
    const { missing, said } = install();
    expect(missing).toBe(2);
    expect(said).toContain('dnf install -y bubblewrap');
    expect(said).toContain('dnf install -y python3');
  });

  test('that apt-get fails to install are reported as missing, with its error', () => {
    program('sudo', sudoWithoutPassword);
    program('python3', 'exit 0');
    program('apt-get', 'echo "E: no network" >&2; exit 100');
    const { missing, said } = install();
    expect(missing).toBe(1);
    expect(said).toContain('E: no network');
    expect(said).toContain('apt-get install');
  });
});
