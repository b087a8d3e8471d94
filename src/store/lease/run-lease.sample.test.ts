import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { examplePlan } from '../../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../../test/fixtures/store/folders.ts';
import { until } from '../../../test/fixtures/until.ts';
import { createExperiment } from '../experiment.ts';
import { readTraceSync } from '../trace-reader.ts';

const program = join(import.meta.dirname, '../../../test/fixtures/store/lease-writer.ts');
const writers = 3;
const rounds = 30;

interface Writer {
  process: ChildProcess;
  stopped: boolean;
}

/** Writers that stop, continue and die at random moments. Each counts as a separate machine: others can only watch it. */
async function disturb(folder: string): Promise<string[]> {
  const logs: string[] = [];
  const start = (): Writer => {
    const log = join(folder, `log-${logs.length}`);
    logs.push(log);
    return {
      process: startWriter(join(folder, 'experiment'), `machine-${logs.length}`, log),
      stopped: false,
    };
  };
  const all = Array.from({ length: writers }, start);
  try {
    for (let round = 0; round < rounds; round++) {
      await sleep(50 + Math.random() * 600);
      const index = Math.floor(Math.random() * writers);
      const writer = all[index];
      if (writer === undefined) continue;
      if (writer.stopped) writer.process.kill('SIGCONT');
      else if (Math.random() < 0.2) {
        writer.process.kill('SIGKILL');
        all[index] = start();
        continue;
      } else writer.process.kill('SIGSTOP');
      writer.stopped = !writer.stopped;
    }
  } finally {
    for (const { process: child } of all) child.kill('SIGKILL');
  }
  return logs
    .filter((log) => existsSync(log))
    .flatMap((log) => readFileSync(log, 'utf8').trimEnd().split('\n'));
}

const onReadOnly = (folder: string) => `
const { takeLease } = await import(${JSON.stringify(`${import.meta.dirname}/take-lease.ts`)});
await takeLease(${JSON.stringify(`${folder}/run`)}).catch(({ code }) => console.log(code));`;
const readOnly = ['--mount', '--propagation', 'private', 'sh', '-c'];
const cannotMount = spawnSync('unshare', [...readOnly, 'mount -t tmpfs -o ro none /mnt']).status !== 0;

test.skipIf(cannotMount)(
  `a lease on a read-only file system is refused at once${cannotMount ? ' (skipped: nothing can be mounted)' : ''}`,
  () => {
    using folder = temporaryFolder();
    const command = 'mount -t tmpfs -o ro none "$1" && exec "$2" --input-type=module --eval "$3"';
    const values = ['sh', folder.path, process.execPath, onReadOnly(folder.path)];
    const { stdout } = spawnSync('unshare', [...readOnly, command, ...values], { timeout: 30_000 });
    expect(stdout.toString().trim()).toBe('EROFS');
  },
);

test('writers that stop, continue and die at any moment never mix their events, and lose none that was reported as written', {
  timeout: 120_000,
}, async () => {
  using folder = temporaryFolder();
  const experiment = createExperiment(join(folder.path, 'experiment'), examplePlan());
  const said = await disturb(folder.path);
  const run = experiment.runFolder('digits-baseline-0');
  // Reading checks the chain of hashes.
  const { events } = readTraceSync(run.tracePath);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
  const found = new Set<string>();
  const epochs: number[] = [];
  for (const event of events) {
    if (event.kind === 'session_started') epochs.push(event.epoch ?? 0);
    if (event.kind !== 'note') continue;
    const { by } = event.entries;
    const text = by !== undefined && 'text' in by ? by.text : '';
    found.add(text);
    expect(text.split(' ')[1], 'events of the newest epoch alone').toBe(String(epochs.at(-1)));
  }
  expect(epochs).toEqual([...new Set(epochs)].sort((one, other) => one - other));
  expect(epochs.length).toBeGreaterThan(2);
  const written = said.flatMap((line) => (line.startsWith('wrote ') ? [line.slice('wrote '.length)] : []));
  expect(written.filter((text) => !found.has(text))).toEqual([]);
});

test('a writer that was stopped while another took over is refused at its next event, with the name of the other', {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  const experiment = join(folder.path, 'experiment');
  createExperiment(experiment, examplePlan());
  const [firstLog, secondLog] = [join(folder.path, 'first'), join(folder.path, 'second')];
  // Both must still have the lease when the other one looks.
  const first = startWriter(experiment, 'machine-1', firstLog, 1_000_000);
  const second: ChildProcess[] = [];
  try {
    await until('the first writes', () => textOf(firstLog).includes('wrote machine-1 1 10\n'));
    first.kill('SIGSTOP');
    // It stops a moment after the signal.
    await sleep(50);
    const before = textOf(firstLog);
    second.push(startWriter(experiment, 'machine-2', secondLog, 1_000_000));
    await until('the second writes', () => textOf(secondLog).includes('wrote machine-2 2 10\n'));
    first.kill('SIGCONT');
    await until('the first gives up', () => textOf(firstLog).includes('lease_lost'));
    const lines = textOf(firstLog).slice(before.length).split('\n');
    const told = lines.find((line) => line.startsWith('lease_lost'));
    // It may have been stopped between writing an event and reporting it.
    expect(lines.indexOf(String(told))).toBeLessThanOrEqual(1);
    expect(told).toMatch(
      /^lease_lost Process \d+ may no longer write to .*digits-baseline-0: process \d+ on machine-2 took it over \(epoch 2\) after this one \(epoch 1\)/,
    );
  } finally {
    for (const child of [first, ...second]) child.kill('SIGKILL');
  }
});

function startWriter(experiment: string, machine: string, log: string, events?: number): ChildProcess {
  const amount = events === undefined ? [] : [`${events}`];
  return spawn(process.execPath, [program, experiment, machine, log, ...amount], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
