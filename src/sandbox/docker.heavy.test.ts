import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createSandbox } from './create-sandbox.ts';
import { DockerEngine } from './docker-engine.ts';
import type { Sandbox } from './sandbox.ts';
import { makePlace, obstacleTo, type Place, run, runProgram } from './test-support.ts';

/** The first engine that really runs a container here. */
async function findEngine(): Promise<{ command: string } | { obstacles: string }> {
  const obstacles: string[] = [];
  for (const command of ['docker', 'podman']) {
    const obstacle = await obstacleTo('docker', { dockerCommand: command });
    if (obstacle === null) return { command };
    obstacles.push(obstacle);
  }
  return { obstacles: obstacles.join('; ') };
}

const engine = await findEngine();
const suite = 'command' in engine ? describe : describe.skip;
const dockerCommand = 'command' in engine ? engine.command : 'docker';

suite(`confinement by containers${'command' in engine ? '' : ` (skipped: ${engine.obstacles})`}`, () => {
  let place: Place;
  let sandbox: Sandbox;

  beforeAll(async () => {
    vi.stubEnv('PROVIDER_API_KEY', 'sk-not-for-agents');
    vi.stubEnv('http_proxy', 'http://secret@proxy');
    place = makePlace();
    place.file('data/hidden.csv', 'the answers');
    place.file('data/private/labels.csv', 'the answers');
    place.file('other, run/secret.txt', 'another run');
    place.file('grader.py', 'print("judge")');
    const spec = place.spec({
      hide: ['/workspace/data/hidden.csv', '/workspace/data/private', '/workspace/data/no'],
    });
    spec.mounts.push({
      source: join(place.root, 'grader.py'),
      target: '/workspace/evaluate.py',
      access: 'read',
    });
    spec.mounts.push({ source: join(place.root, 'other, run'), target: '/with, comma', access: 'read' });
    sandbox = await createSandbox('docker', spec, { dockerCommand });
  });

  afterAll(async () => {
    await sandbox[Symbol.asyncDispose]();
    place[Symbol.dispose]();
    vi.unstubAllEnvs();
  });

  it('reports exit codes, signals and missing programs, with output in order', async () => {
    expect(await run(sandbox, 'exit 7')).toMatchObject({ ending: 'exited', exitCode: 7 });
    expect(await run(sandbox, 'kill -9 $$')).toMatchObject({ exitCode: null, signal: 'SIGKILL', output: '' });
    expect(await runProgram(sandbox, ['no-such-program'])).toMatchObject({ ending: 'exited', exitCode: 127 });
    const { output } = await run(sandbox, 'for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done');
    expect(output).toBe([1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => `o${i}\ne${i}\n`).join(''));
  });

  it('shows the same Python and data, without what is hidden', async () => {
    const script =
      'python3 -c "print(6 * 7)"; cat evaluate.py "/with, comma/secret.txt"; cat data/hidden.csv; ls data/private';
    expect((await run(sandbox, script)).output).toBe('42\nprint("judge")another run');
  });

  it('shows no homes, no passwords and no variables of the host', async () => {
    const { output } = await run(sandbox, 'env; cat /proc/*/environ; ls /root /home; cat /etc/shadow');
    expect(output).not.toMatch(/sk-not-for-agents|secret@proxy|root:[$*!]/);
  });

  it('allows writing only to the workspace and the private temporary folders', async () => {
    for (const path of [
      '/x',
      '/usr/x',
      '/etc/x',
      '/proc/sys/kernel/core_pattern',
      '/run/x',
      'data/x',
      'evaluate.py',
    ]) {
      expect.soft(await run(sandbox, `echo x > ${path}`), path).not.toMatchObject({ exitCode: 0 });
    }
    expect(await run(sandbox, 'echo x > new && echo x > /tmp/x && echo x > /dev/shm/x')).toMatchObject({
      exitCode: 0,
    });
    expect(readFileSync(join(place.workspace, 'new'), 'utf8')).toBe('x\n');
  });

  it('opens no socket to a server of the host, nor to the host of a virtual machine', async () => {
    const server = createServer((socket) => socket.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const script = `import socket
for family, place in ((socket.AF_INET, ("127.0.0.1", ${port})), (40, (2, 1))):
    try:
        socket.socket(family, socket.SOCK_STREAM).connect(place)
        print("reached")
    except OSError as error:
        print("refused")`;
    const { output } = await runProgram(sandbox, ['/usr/bin/python3', '-c', script]);
    server.close();
    expect(output).toBe('refused\nrefused\n');
  });

  it('ends memory, process and disk bombs', async () => {
    const greedy = 'b = bytearray(600_000_000)\\nfor i in range(0, len(b), 4096): b[i] = 1';
    const end = await run(sandbox, `printf '${greedy}' > /tmp/bomb.py; python3 /tmp/bomb.py; exit 3`);
    expect(end).toMatchObject({ ending: 'out_of_memory', exitCode: 3 });
    const bomb = await run(sandbox, 'bomb() { bomb | bomb & }; bomb; sleep 2; echo over', {
      timeoutMs: 6_000,
    });
    expect(['exited', 'timed_out']).toContain(bomb.ending);
    const fill = 'for i in 1 2 3 4 5; do head -c 60000000 /dev/zero > $i || exit; done; sleep 9; true';
    expect((await run(sandbox, fill)).ending).toBe('workspace_full');
    expect((await run(sandbox, 'rm [0-9]')).ending).toBe('exited');
  });

  it('ends a command that ignores SIGTERM, keeps its output, and leaves no container', async () => {
    const script = 'trap "echo no" TERM; (setsid sleep 1000 &); echo hello; while :; do sleep 0.1; done';
    const end = await run(sandbox, script, { timeoutMs: 500 });
    expect(end).toMatchObject({ ending: 'timed_out', signal: 'SIGKILL' });
    expect(end.output).toMatch(/^hello\n(Terminated\n)?no\n/);
    const { command, environment } = await DockerEngine.connect(dockerCommand);
    expect([command, Object.keys(environment).includes('PROVIDER_API_KEY')]).toEqual([dockerCommand, false]);
    expect(await containersOf(process.pid)).toBe('');
  });

  it('communicates over standard input', async () => {
    let output = '';
    const process = await sandbox.start(
      ['/bin/sh', '-c', 'while read -r line; do echo "got $line"; done; echo bye'],
      {
        stdin: 'pipe',
        onOutput: (chunk) => {
          output += chunk.toString();
        },
        timeoutMs: 20_000,
        signal: null,
      },
    );
    process.write('one\n');
    process.endInput();
    expect(await process.ended).toMatchObject({ ending: 'exited', exitCode: 0 });
    expect(output).toBe('got one\nbye\n');
  });

  it('removes its containers when the harness is killed with SIGKILL', async () => {
    const index = fileURLToPath(new URL('./index.ts', import.meta.url));
    const script = `
      const { createSandbox } = await import(${JSON.stringify(index)});
      const sandbox = await createSandbox('docker', ${JSON.stringify(place.spec())}, { dockerCommand: '${dockerCommand}' });
      const options = { stdin: 'none', onOutput: () => {}, timeoutMs: null, signal: null };
      await sandbox.start(['sleep', '1000'], options);
      console.log('ready');`;
    const harness = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise<void>((resolve) => harness.stdout.once('data', () => resolve()));
    expect(await containersOf(harness.pid)).not.toBe('');
    harness.kill('SIGKILL');
    for (let attempt = 0; attempt < 100 && (await containersOf(harness.pid)) !== ''; attempt++)
      await sleep(100);
    expect(await containersOf(harness.pid)).toBe('');
  });

  it('says that an image is missing, not that a command failed', async () => {
    const options = { dockerCommand, dockerImage: 'mlab-no-such-image:never' };
    await using absent = await createSandbox('docker', place.spec(), options);
    await expect(run(absent, 'true')).rejects.toMatchObject({ name: 'SandboxError' });
  });
});

it('says which engine does not answer', async () => {
  const start = createSandbox('docker', makePlaceSpec(), { dockerCommand: '/no/such/engine' });
  await expect(start).rejects.toMatchObject({
    name: 'SandboxError',
    hint: expect.stringContaining('install'),
  });
  const ownSandbox = new RegExp(`-${process.pid}-\\d+-sandbox-`);
  expect(readdirSync(tmpdir()).filter((name) => ownSandbox.test(name))).toEqual([]);
});

function makePlaceSpec() {
  using place = makePlace();
  return place.spec();
}

async function containersOf(pid: number | undefined): Promise<string> {
  const { ask } = await askingEngine();
  const lines = await ask(['ps', '--all', '--format', '{{.Names}}']);
  return lines
    .split('\n')
    .filter((name) => name.includes(`-${pid}-`))
    .join(' ');
}

async function askingEngine() {
  const engine = await DockerEngine.connect(dockerCommand);
  return { ask: (parameters: string[]) => engine.ask(parameters) };
}
