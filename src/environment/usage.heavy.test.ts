import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BarePython, barePython } from '../../test/fixtures/bare-python.ts';
import { noSandbox } from '../../test/fixtures/needs-sandbox.ts';
import { WorkspacePlace } from '../../test/fixtures/workspace-place.ts';
import type { EventOf, SandboxDriver } from '../schema/index.ts';

let bare: BarePython;

beforeAll(async () => {
  bare = await barePython();
});
afterAll(() => bare[Symbol.dispose]());

const drivers: SandboxDriver[] = noSandbox === undefined ? ['bubblewrap', 'none'] : ['none'];

const burn = `import time
held = bytearray(100_000_000)
for place in range(0, len(held), 4096): held[place] = 1
while time.process_time() < 1: pass
`;

const finished = (place: WorkspacePlace): EventOf<'step_finished'>[] =>
  place.events.filter((event) => event.kind === 'step_finished');

describe.each(drivers)('the resource use of a step, with the driver %s', (driver) => {
  const open = () =>
    WorkspacePlace.open({ files: { 'burn.py': burn }, sandbox: { driver, python: bare.python } });

  test('contains the second of processor time and the 100 MB of its script', async () => {
    await using place = await open();
    await place.step('Execute Script', { script_name: 'burn.py' });
    const [step] = finished(place);
    expect(step?.cpu_seconds).toBeGreaterThan(0.8);
    expect(step?.cpu_seconds).toBeLessThan(3);
    expect(step?.peak_memory_bytes).toBeGreaterThan(100_000_000);
    expect(step?.peak_memory_bytes).toBeLessThan(250_000_000);
  });

  test('includes all processes of a command, also those that a shell waited for', async () => {
    await using place = await open();
    await place.step('Run Command', { command: 'python burn.py; python burn.py; sleep 0.3' });
    expect(finished(place)[0]?.cpu_seconds).toBeGreaterThan(1.8);
  });

  test('is reported for each step of an interpreter that keeps running', async () => {
    await using place = await open();
    await place.step('Python REPL', { command: burn });
    await place.step('Python REPL', { command: 'len(held)' });
    const [first, second] = finished(place);
    expect(first?.cpu_seconds).toBeGreaterThan(0.8);
    expect(second?.cpu_seconds).toBeLessThan(0.3);
    expect(second?.peak_memory_bytes).toBeGreaterThan(100_000_000);
  });

  test('is absent for a step without a process', async () => {
    await using place = await open();
    await place.step('List Files', { dir_path: '.' });
    expect(finished(place)[0]).not.toHaveProperty('cpu_seconds');
    expect(finished(place)[0]).not.toHaveProperty('peak_memory_bytes');
  });
});
