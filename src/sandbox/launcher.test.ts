import { once } from 'node:events';
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../test/fixtures/until.ts';
import { launcherShell } from './bubblewrap-arguments.ts';
import { createSandbox } from './create-sandbox.ts';
import { childrenOf, descendantsOf } from './process-tree.ts';
import type { Sandbox, SandboxProcess } from './sandbox.ts';
import { makePlace, obstacleTo, type Place, run, runProgram } from './test-support.ts';

const obstacle = await obstacleTo('bubblewrap');

describe.skipIf(obstacle !== null)('the launcher of a sandbox', () => {
  let place: Place;
  let sandbox: Sandbox;

  beforeEach(async () => {
    place = makePlace();
    sandbox = await createSandbox('bubblewrap', place.spec());
  });

  afterEach(async () => {
    await sandbox[Symbol.asyncDispose]();
    place[Symbol.dispose]();
  });

  /** Host ids of the launchers that this process has started. */
  const launchers = () =>
    childrenOf(process.pid).filter((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(launcherShell),
    );

  /** Pipes for input that this process has open. */
  const openInputs = () =>
    readdirSync('/proc/self/fd').flatMap((file) => {
      try {
        const path = readlinkSync(`/proc/self/fd/${file}`);
        return path.startsWith('/') && path.endsWith('/input') ? [path] : [];
      } catch {
        return [];
      }
    });

  /** Of the whole machine, which the kernel tells in each network namespace. */
  const orphanedConnections = () =>
    Number(/ orphan (\d+) /.exec(readFileSync('/proc/net/sockstat', 'latin1'))?.[1]);

  /** A program that answers each line that it reads. */
  async function startListener(heard: string[]): Promise<SandboxProcess> {
    return sandbox.start(['/bin/sh', '-c', 'while read -r line; do echo "got $line"; done'], {
      ...{ stdin: 'pipe', timeoutMs: null, signal: null },
      onOutput: (chunk) => heard.push(chunk.toString()),
    });
  }

  it('is started for the first command, serves all that follow, and ends with its sandbox', async () => {
    expect(launchers()).toEqual([]);
    await run(sandbox, 'true');
    const first = launchers();
    expect(first).toHaveLength(1);
    for (let count = 0; count < 3; count++) await run(sandbox, 'sh -c "exit 3" & wait');
    expect(launchers()).toEqual(first);
    await sandbox[Symbol.asyncDispose]();
    expect(launchers()).toEqual([]);
  });

  it('serves on while connections of others on the machine are being closed', async () => {
    await run(sandbox, 'true');
    const first = launchers();
    const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(client, 'connect');
    client.write(Buffer.alloc(20_000_000));
    client.destroy();
    await until('a connection is being closed', () => orphanedConnections() > 0, 5);
    await run(sandbox, 'true');
    expect(orphanedConnections()).toBeGreaterThan(0);
    expect(launchers()).toEqual(first);
    server.close();
  });

  it('lets a command continue while others begin and end', async () => {
    const heard: string[] = [];
    const listener = await startListener(heard);
    listener.write('one\n');
    for (let count = 0; count < 3; count++) {
      expect(await run(sandbox, 'kill -9 -1; sleep 20 & exit 3')).toMatchObject({ ending: 'exited' });
    }
    listener.write('two\n');
    await until('it is heard', () => heard.join('').includes('two'), 5);
    expect(heard.join('')).toBe('got one\ngot two\n');
    listener.endInput();
    expect(await listener.ended).toMatchObject({ ending: 'exited', exitCode: 0 });
  });

  it('takes its running command with it when it is killed, and another launcher serves the next', async () => {
    const heard: string[] = [];
    const listener = await startListener(heard);
    const [launcher] = launchers();
    if (launcher === undefined) throw new Error('there is no launcher');
    process.kill(launcher, 'SIGKILL');
    expect(await listener.ended).toMatchObject({ ending: 'exited', exitCode: null, signal: 'SIGKILL' });
    expect(await run(sandbox, 'echo well')).toMatchObject({ exitCode: 0, output: 'well\n' });
  });

  it('is replaced when it was killed while it waited', async () => {
    await run(sandbox, 'true');
    const waiting = launchers().flatMap((pid) => [pid, ...descendantsOf(pid, 9)]);
    for (const pid of launchers()) process.kill(pid, 'SIGKILL');
    await until('they are gone', () => waiting.every((pid) => !existsSync(`/proc/${pid}`)), 5);
    expect(await run(sandbox, 'echo well')).toMatchObject({ exitCode: 0, output: 'well\n' });
  });

  it('reports the resource use of each command without that of earlier ones', async () => {
    const greedy = 'b = bytearray(120_000_000)\nfor i in range(0, len(b), 4096): b[i] = 1\nwhile True: pass';
    const large = await run(sandbox, `ulimit -t 1; exec /usr/bin/python3 -c "${greedy}"`);
    const small = await run(sandbox, 'true');
    expect(large.cpuSeconds).toBeGreaterThan(0.5);
    expect(small.cpuSeconds).toBeLessThan(0.4);
    if (large.peakMemoryBytes === null || small.peakMemoryBytes === null) return;
    expect(large.peakMemoryBytes).toBeGreaterThan(120_000_000);
    expect(small.peakMemoryBytes).toBeLessThan(40_000_000);
  });

  it.each([
    ['a process', 'setsid sleep 60 > /dev/null 2>&1 &', 'ls -d /proc/[0-9]* | wc -l', /^[1-5]\n$/],
    ['files', 'echo x > /tmp/x; echo x > /dev/shm/x', 'ls -A /tmp /dev/shm', /^\/dev\/shm:\n\n\/tmp:\n$/],
    ['a closed folder', 'chmod 0 /tmp 2> /dev/null; true', 'touch /tmp/x && echo open', /^open\n$/],
    [
      'a port in use',
      `/usr/bin/python3 -c "import socket
server = socket.create_server(('127.0.0.1', 8080))
client = socket.create_connection(('127.0.0.1', 8080))
server.accept()[0].close()
client.close()"`,
      `/usr/bin/python3 -c "import socket; socket.socket().bind(('127.0.0.1', 8080)); print('free')"`,
      /^free\n$/,
    ],
  ])('leaves the next command nothing of the one before: %s', async (_, first, second, expected) => {
    expect((await run(sandbox, first)).output).toBe('');
    expect((await run(sandbox, second)).output).toMatch(expected);
  });

  it('leaves the next command nothing of the one before: input that was not read', async () => {
    const start = (script: string, onOutput: (chunk: Buffer) => void) =>
      sandbox.start(['/bin/sh', '-c', script], {
        ...{ stdin: 'pipe', timeoutMs: 5_000, signal: null },
        onOutput,
      });
    const first = await start('sleep 0.2', () => {});
    first.write('first '.repeat(100_000));
    first.endInput();
    await first.ended;
    expect(openInputs()).toEqual([]);
    const before = launchers();
    let read = '';
    const second = await start('cat', (chunk) => {
      read += chunk.toString();
    });
    second.write('second');
    second.endInput();
    expect(await second.ended).toMatchObject({ ending: 'exited', exitCode: 0 });
    expect(read).toBe('second');
    expect(launchers()).toEqual(before);
  });

  it('leaves the next command nothing of the one before: input in a file that is in transit', async () => {
    const script = `import array, socket, sys
one, other = socket.socketpair()
for file in (0, one.fileno(), other.fileno()):
    one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))])
sys.stdin.buffer.raw.read(3)`;
    for (let round = 0; round < 5; round++) {
      const options = { stdin: 'pipe', timeoutMs: 5_000, signal: null } as const;
      const first = await sandbox.start(['/usr/bin/python3', '-c', script], {
        ...options,
        onOutput: () => {},
      });
      first.write('first '.repeat(1_000));
      await first.ended;
      let read = '';
      const second = await sandbox.start(['/bin/cat'], {
        ...options,
        onOutput: (chunk) => {
          read += chunk.toString();
        },
      });
      second.write('second');
      second.endInput();
      await second.ended;
      expect(read).toBe('second');
    }
  });

  it('runs a command of many lines, and a long one', async () => {
    expect((await run(sandbox, "echo 'it'\necho \\\\ \"$0\" '\t'")).output).toBe('it\n\\ /bin/sh \t\n');
    expect((await run(sandbox, `: ${'x'.repeat(5000)}; echo long`)).output).toBe('long\n');
  });

  it('passes on every character of an argument, in short commands and long ones', async () => {
    const characters = Array.from({ length: 0x2500 }, (_, index) => String.fromCodePoint(index + 1)).join('');
    for (let from = 0; from < characters.length; from += 500) {
      for (const length of [500, 5_000]) {
        const text = `${characters.slice(from, from + 500)} \\n😀`.padEnd(length, 'x');
        const { output } = await runProgram(sandbox, ['/usr/bin/printf', '%s', text]);
        expect(output).toBe(text);
      }
    }
  });

  it('shows the current sources of mounts, even if they were replaced since the last command', async () => {
    const source = place.file('fixed.py', 'old');
    const spec = place.spec();
    spec.mounts.push({ source, target: '/workspace/inner/fixed.py', access: 'read' });
    await using own = await createSandbox('bubblewrap', spec);
    expect((await run(own, 'cat inner/fixed.py')).output).toBe('old');
    writeFileSync(join(place.root, 'new'), 'new');
    renameSync(join(place.root, 'new'), source);
    expect((await run(own, 'cat inner/fixed.py')).output).toBe('new');
    rmSync(join(place.workspace, 'inner'), { recursive: true });
    expect((await run(own, 'cat inner/fixed.py')).output).toBe('new');
    renameSync(place.data, join(place.root, 'moved'));
    place.file('data/train.csv', 'other');
    expect((await run(own, 'cat data/train.csv')).output).toBe('other');
  });

  it('gives a command three open files only, and accepts no second script from it', async () => {
    const script = [
      // Besides the third, which `ls` opens, only /dev/null in place of files that were open when the test started.
      'ls /proc/self/fd | tr "\\n" " "',
      // Whoever is the same user as process 1 can open what that has open.
      '(while sleep 0.01; do for file in 0 1 2; do echo "echo forged; touch forged" > /proc/1/fd/$file; done; done) 2> /dev/null &',
      'sleep 0.2',
    ];
    const { output } = await run(sandbox, script.join('\n'));
    expect(output.replace('echo forged; touch forged\n', '').trim()).toMatch(/^0 1 2( \d{2,})* 3( \d{2,})*$/);
    const next = await run(sandbox, 'sleep 0.2; echo alone');
    expect(next.output).toBe('alone\n');
    expect(readdirSync(place.workspace)).not.toContain('forged');
  });
});
