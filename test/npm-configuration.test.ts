import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const module = pathToFileURL(join(import.meta.dirname, '../scripts/npm-packages.mjs')).href;
const token = 'of-the-users';
let folder: string;
let server: Server;
let asked: string[];
/** The registry's document for each package: its versions and their locations. */
const packed = new Map<string, object>();

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mlab-npmrc-'));
  asked = [];
  // A registry that requires a key and has these packages.
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.headers.authorization !== `Bearer ${token}`) response.writeHead(401).end();
    else if (served.includes(request.url ?? ''))
      response.end(readFileSync(join(folder, basename(request.url ?? ''))));
    else {
      const versions = packed.get((request.url ?? '').slice(1));
      if (versions === undefined) response.writeHead(404).end();
      else response.end(JSON.stringify(versions));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const names = ['extra', 'friend', 'tool'];
const pathOf = (name: string) => `/${name}/-/${name}-1.0.0.tgz`;
const served = names.map(pathOf);

function portOf(listening: Server): number {
  const address = listening.address();
  if (address === null || typeof address === 'string') throw new Error('it listens on no port');
  return address.port;
}

function write(path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

/** Packs a package for the registry; returns its entry in a lock file. */
function pack(name: string, more: object): object {
  const facts = { version: '1.0.0', ...more };
  write('package/package.json', JSON.stringify({ name, ...facts }));
  write('package/program.js', '#!/usr/bin/env node\n');
  const tarball = basename(pathOf(name));
  spawnSync('tar', ['-czf', tarball, 'package'], { cwd: folder });
  const digest = createHash('sha512').update(readFileSync(join(folder, tarball)));
  const integrity = `sha512-${digest.digest('base64')}`;
  const dist = { tarball: `http://127.0.0.1:${portOf(server)}${pathOf(name)}`, integrity };
  const versions = { '1.0.0': { name, ...facts, dist } };
  packed.set(name, { name, 'dist-tags': { latest: '1.0.0' }, versions });
  return { ...facts, integrity };
}

/**
 * A project with an optional package, and a development package that has a peer, an install script, and requires a Node
 * that does not exist.
 */
function writeProject(): void {
  const tool = pack('tool', {
    ...{ bin: { tool: 'program.js' }, engines: { node: '>=99' }, peerDependencies: { friend: '1.0.0' } },
    scripts: { install: `echo > "${folder}/script-ran"` },
  });
  const project = {
    ...{ name: 'project', version: '1.0.0', devDependencies: { tool: '1.0.0' } },
    optionalDependencies: { extra: '1.0.0' },
  };
  write('project/package.json', JSON.stringify(project));
  const packages = {
    '': project,
    'node_modules/extra': { ...pack('extra', {}), optional: true },
    'node_modules/friend': { ...pack('friend', {}), dev: true, peer: true },
    'node_modules/tool': { ...tool, dev: true, hasInstallScript: true },
  };
  write('project/package-lock.json', JSON.stringify({ ...project, lockfileVersion: 3, packages }));
}

/** Installs the project's packages for a user with this npm configuration. */
async function install(npmrc: readonly string[], variables: Record<string, string> = {}) {
  writeProject();
  const registry = `127.0.0.1:${portOf(server)}/`;
  const places = [
    `registry=http://${registry}`,
    `//${registry}:_authToken=${token}`,
    `cache=${join(folder, 'cache')}`,
  ];
  write('home/.npmrc', [...places, ...npmrc].join('\n'));
  const project = join(folder, 'project');
  const script = `import { installPackages } from '${module}';
    await installPackages({ folder: '${project}', what: 'tools', megabytes: 1 });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env: { PATH: process.env.PATH, HOME: join(folder, 'home'), ...variables },
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [status] = await once(child, 'close');
  return { status, said, project };
}

const unusual = {
  'a user who installs only what is needed': [
    ...['omit[]=dev', 'omit[]=optional', 'omit[]=peer', 'production=true', 'only=production'],
  ],
  'a user who installs globally, to a folder of theirs': [
    ...['global=true', 'location=global', 'prefix=/nowhere'],
  ],
  'a user who keeps no lock files and tries things first': [
    ...['package-lock=false', 'package-lock-only=true', 'dry-run=true'],
  ],
  'a user who lays packages out in another way': [
    ...['install-strategy=linked', 'bin-links=false', 'legacy-peer-deps=true'],
  ],
  'a user who is strict, and reads all that npm says': [
    ...['engine-strict=true', 'strict-peer-deps=true', 'audit=true', 'fund=true', 'loglevel=silly'],
  ],
};

test.each(Object.entries(unusual))(
  'set-up installs the same, from their registry, for %s',
  async (_, npmrc) => {
    const { status, said, project } = await install(npmrc);
    expect(status, said).toBe(0);
    expect(said).toMatch(/^Installing tools: .*\n( {2}.*\n)*Installed tools in .*\n$/);
    const there = ['.bin', '.package-lock.json', ...names];
    expect(readdirSync(join(project, 'node_modules')).sort()).toEqual(there);
    expect(existsSync(join(project, 'node_modules/.bin/tool'))).toBe(true);
    expect(existsSync(join(folder, 'script-ran'))).toBe(false);
    expect(existsSync(join(folder, 'cache/_cacache'))).toBe(true);
    expect(asked.filter((path) => served.includes(path)).sort()).toEqual(served);
  },
);

test('packages that an installation left stay in place while others are added, as mlab may run from them', async () => {
  await install([]);
  const friend = join(folder, 'project/node_modules/friend');
  const { ino } = statSync(join(friend, 'program.js'));
  rmSync(join(folder, 'project/node_modules/tool'), { recursive: true });
  const { status, said } = await install([]);
  expect(status, said).toBe(0);
  expect(existsSync(join(folder, 'project/node_modules/tool/program.js'))).toBe(true);
  expect(statSync(join(friend, 'program.js')).ino).toBe(ino);
});

test('set-up installs the same if the environment tells npm to omit packages', async () => {
  const { status, said, project } = await install([], {
    NODE_ENV: 'production',
    npm_config_omit: 'dev optional peer',
    npm_config_global: 'true',
    npm_config_ignore_scripts: 'false',
    npm_config_engine_strict: 'true',
  });
  expect(status, said).toBe(0);
  for (const name of names) expect(existsSync(join(project, 'node_modules', name))).toBe(true);
  expect(existsSync(join(folder, 'script-ran'))).toBe(false);
});

test('if npm fails, set-up shows its error', async () => {
  const { status, said } = await install([`//127.0.0.1:${portOf(server)}/:_authToken=wrong`]);
  expect(status).not.toBe(0);
  expect(said).toContain('401');
  expect(said).toContain('npm could not install tools');
});

test('npm ends before the process that is stopped while it installs, even if npm does not want to', async () => {
  writeProject();
  const npm = join(folder, 'bin/npm');
  write('bin/npm', `#!/bin/sh\ntrap '' INT TERM\necho $$ > "${folder}/pid"\nwhile :; do sleep 0.1; done\n`);
  chmodSync(npm, 0o755);
  const script = `const { installPackages } = await import(${JSON.stringify(module)});
    await installPackages({ folder: ${JSON.stringify(folder)}, what: 'packages', megabytes: 1 });`;
  const PATH = `${join(folder, 'bin')}:${process.env.PATH}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, PATH },
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = once(child, 'close');
  await expect.poll(() => existsSync(join(folder, 'pid'))).toBe(true);
  child.kill('SIGINT');
  expect(await ended).toEqual([130, null]);
  expect(said).not.toContain('could not');
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});
