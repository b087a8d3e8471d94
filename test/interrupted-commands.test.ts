import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { makeExampleRun } from './fixtures/store/example-run.ts';
import { temporaryFolder } from './fixtures/temporary-folder.ts';
import { until } from './fixtures/until.ts';

const root = join(import.meta.dirname, '..');
const mlab = join(root, 'bin/mlab.mjs');

/** A started process, with its end, and the last part of its output. */
function start(words: readonly string[], program = process.execPath) {
  const child = spawn(program, [...words], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4000);
    });
  const ended = once(child, 'close');
  return { child, ended, said: () => said };
}

/** Nobody presses it twice within a shorter time. */
const betweenPressesMs = 200;

async function says({ said }: ReturnType<typeof start>, words: string): Promise<void> {
  await until(`it says "${words}"`, () => said().includes(words), 20);
}

/** The command line with one verb that does only this, after it has printed "busy". */
function startVerb(name: string, forever: string) {
  const program = `
    import { main } from ${JSON.stringify(join(root, 'src/cli/main.ts'))};
    import { verbs } from ${JSON.stringify(join(root, 'src/cli/verbs.ts'))};
    const entry = verbs.find(({ name }) => name === ${JSON.stringify(name)});
    const verb = await entry.load();
    verb.run = (context) => { process.stdout.write('busy'); ${forever} };
    entry.load = async () => verb;
    process.exitCode = await main([...entry.name.split(' '), 'some']);
  `;
  return start(['--input-type=module', '-e', program]);
}

const neverWaits = 'for (;;);';
const waitsForever = 'setInterval(() => {}, 1000); return new Promise(() => {});';

async function millisecondsToEnd(started: ReturnType<typeof start>): Promise<number> {
  await says(started, 'busy');
  const before = performance.now();
  started.child.kill('SIGINT');
  await started.ended;
  return performance.now() - before;
}

describe('Ctrl-C', () => {
  test.each(['report', 'runs export', 'run', 'grade'])(
    'ends mlab %s soon while it never waits for anything',
    async (name) => {
      const started = startVerb(name, neverWaits);
      expect(await millisecondsToEnd(started)).toBeLessThan(5000);
      expect(started.child.signalCode).toBe('SIGINT');
    },
  );

  test('is confirmed at once, also if the command never waits for anything', async () => {
    const started = startVerb('grade', neverWaits);
    await says(started, 'busy');
    started.child.kill('SIGINT');
    await says(started, 'stopping');
    expect(started.child.signalCode).toBeNull();
    await started.ended;
  });

  test('ends a command that ignores it soon, with exit code 130', async () => {
    const started = startVerb('grade', waitsForever);
    expect(await millisecondsToEnd(started)).toBeLessThan(5000);
    expect(started.child.exitCode).toBe(130);
  });

  // The shorter times hit the moment between two waits.
  test.each([0.3, 1, 2, 10])('counts once if it arrives again after %s ms', async (pauseMs) => {
    const endsLater = `const timer = setInterval(() => {}, 1000);
      return new Promise((resolve) => context.signal.addEventListener('abort', () => setTimeout(() => {
        clearInterval(timer);
        resolve({ text: 'all done', json: null, exitCode: 0 });
      }, 400)));`;
    const started = startVerb('grade', endsLater);
    await says(started, 'busy');
    started.child.kill('SIGINT');
    const first = performance.now();
    while (performance.now() - first < pauseMs);
    started.child.kill('SIGINT');
    await started.ended;
    expect(started.said()).toContain('all done');
  });

  test.each([waitsForever, neverWaits])('pressed again ends a command at once: %s', async (forever) => {
    const started = startVerb('grade', forever);
    await says(started, 'busy');
    started.child.kill('SIGINT');
    await says(started, 'stopping');
    await sleep(betweenPressesMs);
    const before = performance.now();
    started.child.kill('SIGINT');
    await started.ended;
    expect(performance.now() - before).toBeLessThan(1000);
  });

  const leavesThenEnds = `
    const cancelled = context.detachable({ first: 'goes on elsewhere', second: 'ends it' });
    const timer = setInterval(() => {}, 1000);
    return new Promise((resolve) => cancelled.addEventListener('abort', () => {
      clearInterval(timer);
      resolve({ text: 'all is ended', json: null, exitCode: context.signal.aborted ? 130 : 4 });
    }));
  `;

  test('does not affect work that runs elsewhere, and pressed again ends it', async () => {
    const started = startVerb('run', leavesThenEnds);
    await says(started, 'busy');
    started.child.kill('SIGINT');
    await says(started, 'goes on elsewhere');
    expect(started.said()).not.toContain('ends it');
    await sleep(betweenPressesMs);
    started.child.kill('SIGINT');
    await started.ended;
    expect(started.said()).toMatch(/ends it\s+all is ended/);
    expect(started.child.exitCode).toBe(130);
  });

  test('pressed a third time ends a command at once that is about to end such work', async () => {
    const started = startVerb('run', leavesThenEnds.replace('resolve(', 'void ('));
    await says(started, 'busy');
    for (const word of ['goes on elsewhere', 'ends it']) {
      started.child.kill('SIGINT');
      await says(started, word);
      await sleep(betweenPressesMs);
    }
    const before = performance.now();
    started.child.kill('SIGINT');
    await started.ended;
    expect(performance.now() - before).toBeLessThan(1000);
  });
});

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'a launcher that gets %s takes its command with it',
  async (signal) => {
    const scratch = temporaryFolder();
    const words = [mlab, '--dir', scratch, 'view', '--no-open', '--port', '0'];
    const launcher = `
    import { handOver } from ${JSON.stringify(join(root, 'scripts/hand-over.mjs'))};
    process.stdout.write('launched ' + process.pid + '\\n');
    await handOver(process.execPath, ${JSON.stringify(words)});
  `;
    const started = start(['--input-type=module', '-e', launcher]);
    await says(started, 'The viewer is at');
    const before = performance.now();
    started.child.kill(signal);
    // Both hold its output open: it closes when both have ended.
    await started.ended;
    expect(performance.now() - before).toBeLessThan(3000);
  },
);

test('npx that gets SIGTERM takes its command with it', async () => {
  const scratch = temporaryFolder();
  const started = start(['mlab', '--dir', scratch, 'view', '--no-open', '--port', '0'], 'npx');
  await says(started, 'The viewer is at');
  started.child.kill('SIGTERM');
  await started.ended;
  expect(started.said()).toContain('Stopped.');
});

describe('a hostile store', () => {
  test.each(['run.json', 'trace.jsonl', 'grades.jsonl'])(
    'with a pipe as %s is reported as broken at once',
    async (name) => {
      const scratch = temporaryFolder();
      const { run } = await makeExampleRun(join(scratch, 'experiments'));
      for (const old of [name, `${name}.zst`]) rmSync(join(run.folder, old), { force: true });
      execFileSync('mkfifo', [join(run.folder, name)]);
      mkdirSync(join(scratch, 'cache'));
      const { child, ended, said } = start([mlab, 'report', join(scratch, 'experiments', 'first')]);
      const late = setTimeout(() => child.kill('SIGKILL'), 20_000);
      await ended;
      clearTimeout(late);
      expect(child.signalCode).toBeNull();
      expect(child.exitCode).not.toBe(4);
      expect(said()).toMatch(/not a regular file|first/);
    },
  );
});
