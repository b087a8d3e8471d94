import { execFile } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSandbox } from './create-sandbox.ts';
import type { Sandbox } from './sandbox.ts';
import { makePlace, obstacleTo, type Place, run, runProgram } from './test-support.ts';

const obstacle = await obstacleTo('bubblewrap');
const suite = obstacle === null ? describe : describe.skip;

suite(`confinement by bubblewrap${obstacle === null ? '' : ` (skipped: ${obstacle})`}`, () => {
  let place: Place;
  let sandbox: Sandbox;

  beforeAll(async () => {
    vi.stubEnv('PROVIDER_API_KEY', 'sk-not-for-agents');
    place = makePlace();
    place.file('other-run/secret.txt', 'another run');
    place.file('data/hidden.csv', 'the answers');
    place.file('data/private/labels.csv', 'the answers');
    place.file('workspace/evaluate.py', '');
    place.file('grader.py', 'print("judge")');
    symlinkSync(join(place.root, 'other-run'), join(place.workspace, 'link'));
    symlinkSync('/etc/shadow', join(place.workspace, 'shadow'));
    const spec = place.spec({
      hide: ['/workspace/data/hidden.csv', '/workspace/data/private', '/workspace/data/absent.csv'],
      variables: { OMP_NUM_THREADS: '2' },
    });
    spec.mounts.push({
      source: join(place.root, 'grader.py'),
      target: '/workspace/evaluate.py',
      access: 'read',
    });
    spec.mounts.push({ source: place.data, target: '/again', access: 'read' });
    sandbox = await createSandbox('bubblewrap', spec);
  });

  afterAll(async () => {
    await sandbox[Symbol.asyncDispose]();
    place[Symbol.dispose]();
    vi.unstubAllEnvs();
  });

  it("shows the workspace, the data and the system, and none of people's folders", async () => {
    const { output } = await run(sandbox, 'ls /; cat data/train.csv; cat evaluate.py');
    expect(output).toContain('id,label');
    expect(output).toContain('print("judge")');
    for (const name of ['root', 'home', 'var', 'run', 'sys', 'mnt', 'opt', 'srv', 'boot']) {
      expect(output.split('\n')).not.toContain(name);
    }
  });

  it('keeps the passwords, homes and other runs of the host out of reach', async () => {
    const paths = ['/etc/shadow', '/root', '/home', join(place.root, 'other-run/secret.txt'), place.root];
    for (const path of paths) {
      expect(await run(sandbox, `cat ${path} || ls ${path}`)).not.toMatchObject({ exitCode: 0 });
    }
    expect((await run(sandbox, 'cat /etc/passwd')).output).toMatch(/^agent:x:(1000|6\d{4}):/m);
  });

  it('leaves a symbolic link out of the workspace without a target', async () => {
    expect((await run(sandbox, 'cat shadow')).exitCode).not.toBe(0);
    expect((await run(sandbox, 'cat link/secret.txt')).exitCode).not.toBe(0);
    const { output } = await run(sandbox, `ln -s ${place.root}/other-run mine; cat mine/secret.txt; rm mine`);
    expect(output).not.toContain('another run');
  });

  it('covers hidden files and folders wherever their source is mounted', async () => {
    const script =
      'cat data/hidden.csv /again/hidden.csv && cat data/private/* /again/private/*; ls -A data/private';
    const { exitCode, output } = await run(sandbox, script);
    expect(exitCode).toBe(0);
    expect(output.trim().split('\n')).toEqual([
      expect.stringMatching(/private.*No such file/),
      expect.stringMatching(/private.*No such file/),
    ]);
  });

  it('offers no way around through /proc', async () => {
    const script = `
      for process in /proc/[0-9]*; do
        cat $process/root/etc/shadow $process/cwd/../${place.root}/other-run/secret.txt
        for file in $process/fd/*; do cat $file/hidden.csv; done
        tr '\\0' '\\n' < $process/environ
      done 2> /dev/null
      ls /proc | grep -c '^[0-9]'; cat /proc/kcore /proc/kmsg > /dev/null; true`;
    const { output } = await run(sandbox, script);
    expect(output).not.toMatch(/another run|the answers|sk-not-for-agents|root:[$*!]/);
    expect(Number(/^\d+$/m.exec(output)?.[0])).toBeLessThan(10);
  });

  it('passes only the few documented variables', async () => {
    const { output } = await run(sandbox, 'env');
    const names = output
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]);
    expect(names.sort()).toEqual([
      ...[
        'HOME',
        'LANG',
        'OMP_NUM_THREADS',
        'PATH',
        'PWD',
        'PYTHONDONTWRITEBYTECODE',
        'PYTHONUNBUFFERED',
        'TMPDIR',
      ],
    ]);
  });

  it('allows writing only to the workspace and the private temporary folders', async () => {
    const closed = [
      '/x',
      '/usr/x',
      '/etc/x',
      '/dev/x',
      '/proc/sys/kernel/core_pattern',
      'data/x',
      'evaluate.py',
    ];
    for (const path of [...closed, 'data/train.csv', 'data/private/x', '/workspace/../x']) {
      expect.soft(await run(sandbox, `echo x > ${path}`), path).not.toMatchObject({ exitCode: 0 });
    }
    expect((await run(sandbox, 'mv data gone || rm -rf data || rm -f evaluate.py')).exitCode).not.toBe(0);
    expect(await run(sandbox, 'echo x > new && echo x > /tmp/x && echo x > /dev/shm/x')).toMatchObject({
      exitCode: 0,
    });
    expect(readFileSync(join(place.workspace, 'new'), 'utf8')).toBe('x\n');
    expect(readFileSync(join(place.data, 'train.csv'), 'utf8')).toContain('id,label');
  });

  it('gives every command a fresh temporary folder', async () => {
    expect((await run(sandbox, 'ls /tmp /dev/shm')).output).not.toContain('x\n');
  });

  it('runs as an ordinary user without capabilities, who can create no namespace', async () => {
    const { output } = await run(sandbox, 'id -u; grep -E "CapEff|CapBnd|NoNewPrivs" /proc/self/status');
    const expected = process.getuid?.() === 0 ? /^6\d{4}\n/ : /^1000\n/;
    expect(output).toMatch(expected);
    expect(output).toMatch(/CapEff:\s+0+\n/);
    expect(output).toMatch(/CapBnd:\s+0+\n/);
    expect(output).toMatch(/NoNewPrivs:\s+1\n/);
    expect((await run(sandbox, 'unshare --user true')).exitCode).not.toBe(0);
    expect((await run(sandbox, 'mount -t tmpfs none /tmp')).exitCode).not.toBe(0);
  });

  it('opens no socket to a server of the host', async () => {
    const seen: string[] = [];
    const server = createServer((socket) => {
      seen.push('connected');
      socket.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const abstract = createServer((socket) => socket.end(seen.push('abstract').toString()));
    await new Promise<void>((resolve) => abstract.listen(`\0sandbox-test-${port}`, resolve));
    const script = `import socket
for family, place in ((socket.AF_INET, ("127.0.0.1", ${port})), (socket.AF_UNIX, b"\\0sandbox-test-${port}"), (40, (2, 1))):
    try:
        socket.socket(family, socket.SOCK_STREAM).connect(place)
        print("reached")
    except OSError as error:
        print("refused")`;
    const { output } = await runProgram(sandbox, ['/usr/bin/python3', '-c', script]);
    server.close();
    abstract.close();
    expect(output).toBe('refused\nrefused\nrefused\n');
    expect(seen).toEqual([]);
  });

  it('reaches a local service whose socket file is mounted', async () => {
    const path = join(place.root, 'service.sock');
    const server = createServer((socket) => socket.end('served'));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    chmodSync(path, 0o666);
    const spec = place.spec();
    spec.mounts.push({ source: path, target: '/services/model', access: 'read' });
    await using withService = await createSandbox('bubblewrap', spec);
    const script =
      'import socket; s = socket.socket(socket.AF_UNIX); s.connect("/services/model"); print(s.recv(9))';
    const { output } = await runProgram(withService, ['/usr/bin/python3', '-c', script]);
    server.close();
    expect(output).toBe("b'served'\n");
  });

  it("hides the packages of the system's own Python", async () => {
    const { output } = await run(
      sandbox,
      'ls /usr/lib/python3/dist-packages /usr/local/lib/python3*/dist-packages',
    );
    expect(output).not.toMatch(/numpy|pip|apt/);
  });

  it('leaves nothing behind on the host', async () => {
    const own = await createSandbox('bubblewrap', place.spec());
    await run(own, 'true');
    const folders = () => readdirSync('/tmp').filter((name) => name.includes(`-${process.pid}-`)).length;
    const before = folders();
    await own[Symbol.asyncDispose]();
    expect(folders()).toBe(before - 1);
  });

  it('passes on no file that the harness itself was started with', async () => {
    const script = `
      const { createSandbox } = await import(${JSON.stringify(fileURLToPath(new URL('./index.ts', import.meta.url)))});
      await using sandbox = await createSandbox('bubblewrap', ${JSON.stringify(place.spec())});
      const options = { stdin: 'none', onOutput: (chunk) => process.stdout.write(chunk), timeoutMs: null, signal: null };
      await (await sandbox.start(['/bin/sh', '-c', 'ls /proc/self/fd/27/; readlink /proc/self/fd/27'], options)).ended;`;
    const shell = 'exec 27< "$1"; shift; exec "$@"';
    const command = [
      'bash',
      '-c',
      shell,
      'bash',
      place.root,
      process.execPath,
      '--input-type=module',
      '-e',
      script,
    ];
    const { stdout } = await promisify(execFile)('/usr/bin/env', command);
    expect(stdout).not.toContain('other-run');
    expect(stdout).toContain('/dev/null');
  });

  it('says why it cannot start, which is never reported as a failed command', async () => {
    const spec = place.spec();
    spec.mounts.push({ source: join(place.root, 'absent'), target: '/absent', access: 'read' });
    await using lacking = await createSandbox('bubblewrap', spec);
    await expect(run(lacking, 'true')).rejects.toMatchObject({
      name: 'SandboxError',
      message: expect.stringContaining('absent'),
    });
    // An earlier command may have removed the folder: that is no failure of the sandbox.
    const options = { workingDirectory: '/nowhere' };
    expect(await run(sandbox, 'true', options)).toMatchObject({ ending: 'exited', exitCode: 126 });
    expect(await runProgram(sandbox, ['no-such-program'])).toMatchObject({ ending: 'exited', exitCode: 127 });
    expect(await run(sandbox, 'echo "bwrap: nope" >&2; exit 1')).toMatchObject({
      ending: 'exited',
      exitCode: 1,
    });
  });

  it('keeps the path to a mount deep in the workspace while a command runs', async () => {
    place.file('fixed.py', 'fixed');
    const spec = place.spec();
    spec.mounts.push({
      source: join(place.root, 'fixed.py'),
      target: '/workspace/inner/deep/fixed.py',
      access: 'read',
    });
    await using sandbox = await createSandbox('bubblewrap', spec);
    const script =
      'for path in inner inner/deep; do mv $path moved; rm -rf $path; ln -s /etc $path; done; cat inner/deep/fixed.py; touch inner/deep/new';
    const { output, exitCode } = await run(sandbox, script);
    expect(output.match(/busy/g)?.length).toBeGreaterThanOrEqual(2);
    expect({ output: output.endsWith('fixed'), exitCode }).toEqual({ output: true, exitCode: 0 });
    expect(lstatSync(join(place.workspace, 'inner/deep')).isDirectory()).toBe(true);
    expect(existsSync(join(place.workspace, 'inner/deep/new'))).toBe(true);
  });

  it('does not follow a link at the target of a mount', async () => {
    using other = makePlace();
    const spec = other.spec();
    spec.mounts.push({ source: other.data, target: '/workspace/sub/data', access: 'read' });
    await using own = await createSandbox('bubblewrap', spec);
    const victim = join(other.root, 'victim');
    mkdirSync(victim);
    symlinkSync(victim, join(other.workspace, 'sub'));
    await expect(run(own, 'true')).rejects.toMatchObject({ name: 'SandboxError' });
    expect(readdirSync(victim)).toEqual([]);
  });
});

suite('a Python environment in bubblewrap', () => {
  let place: Place;
  beforeEach(() => {
    place = makePlace();
  });
  afterEach(() => place[Symbol.dispose]());

  it('comes first on the path, read-only, with the installation it was made from and none of its packages', async () => {
    place.file('base/bin/python', '#!/bin/sh\necho from the environment\n');
    place.file('base/lib/python3.11/site-packages/dataset/labels.csv', 'the answers');
    place.file('env/bin/python', '#!/bin/sh\necho from the environment\n');
    const python = { environment: join(place.root, 'env'), basePrefix: join(place.root, 'base') };
    await using sandbox = await createSandbox('bubblewrap', place.spec({ python }));
    const { output } = await run(
      sandbox,
      `chmod +x ${python.environment}/bin/python; echo x > ${python.environment}/x; ls ${python.basePrefix}/lib/python3.11/site-packages; echo $PATH`,
    );
    expect(output).toContain(`${python.environment}/bin:/usr/local/bin`);
    expect(output.match(/Read-only file system|not permitted/g)).toHaveLength(2);
    expect(output).not.toContain('dataset');
  });

  it('runs scripts with a real one, wherever its interpreter is', async () => {
    const { stdout } = await promisify(execFile)('python3', ['-c', 'import sys; print(sys.base_prefix)']);
    const environment = join(place.root, 'venv');
    await promisify(execFile)('python3', ['-m', 'venv', '--without-pip', environment]);
    const python = { environment, basePrefix: stdout.trim() };
    await using sandbox = await createSandbox('bubblewrap', place.spec({ python }));
    const script = 'import sys, ssl, ctypes, sqlite3, getpass; print(sys.prefix, getpass.getuser())';
    const { output } = await runProgram(sandbox, ['python', '-c', script]);
    expect(output).toBe(`${environment} agent\n`);
  });
});
