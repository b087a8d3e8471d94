import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { fixtureTasks, TaskBench } from '../../test/fixtures/fixture-task.ts';
import { agentOf, runOnce } from '../../test/fixtures/run-place.ts';
import { checkSandbox } from '../sandbox/index.ts';

const bench = new TaskBench();
afterAll(() => bench[Symbol.dispose]());

const missing = (await checkSandbox()).find(({ state }) => state === 'missing');
const why = missing === undefined ? '' : ` (skipped: ${missing.detail})`;

const declared = readFileSync(join(fixtureTasks, 'sums/task.yaml'), 'utf8');
const withService = `${declared}\nservices:\n  - { name: oracle, script: service.py }\n`;

/** Answers one line with the hidden labels' number of lines, never with a label. */
const service = `
import argparse, os, socket
parser = argparse.ArgumentParser()
for name in ("socket", "public", "private"):
    parser.add_argument("--" + name)
options = parser.parse_args()
listener = socket.socket(socket.AF_UNIX)
listener.bind(options.socket)
listener.listen()
while True:
    connection, _ = listener.accept()
    asked = connection.recv(100).decode()
    if asked == "stop":
        raise SystemExit("told to stop")
    lines = len(open(os.path.join(options.private, "labels.csv")).readlines())
    connection.sendall(f"{asked}: {lines} lines".encode())
    connection.close()
`;

const client = (word: string) => `
import os, socket
connection = socket.socket(socket.AF_UNIX)
connection.connect(os.environ["MLAB_SERVICES"] + "/oracle.sock")
connection.sendall(b"${word}")
print(connection.recv(100).decode())
while "${word}" == "stop":
    try:
        socket.socket(socket.AF_UNIX).connect(os.environ["MLAB_SERVICES"] + "/oracle.sock")
    except OSError:
        break
for path in ("/private", "/task", os.environ["MLAB_SERVICES"] + "/other.sock"):
    try:
        open(path, "a")
        print("opened", path)
    except OSError:
        print("no", path)
`;

function asks(word: string, observations: string[]) {
  return agentOf(async ({ environment }) => {
    const content = client(word);
    await environment.step({ name: 'Write File', args: { file_name: 'client.py', content } });
    const { observation } = await environment.step({
      name: 'Execute Script',
      args: { script_name: 'client.py' },
    });
    observations.push(observation);
  });
}

describe.skipIf(missing !== undefined)(`a local service${why}`, () => {
  test('is reached by its socket, and gives no way to what it sees', async () => {
    const tasks = bench.copyTask('served', { 'task.yaml': withService, 'hidden/service.py': service });
    const observations: string[] = [];
    const { record } = await runOnce(
      join(bench.experiments, 'served'),
      await bench.equip(tasks),
      asks('hello', observations),
    );
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'agent_stopped' } });
    expect(observations[0]).toMatch(/^hello: 11 lines\nno \/private\nno \/task\nno \/services\/other.sock\n/);
  });

  test('that ends during the run makes it an infrastructure error that says why', async () => {
    const tasks = bench.copyTask('ending', { 'task.yaml': withService, 'hidden/service.py': service });
    const { record } = await runOnce(
      join(bench.experiments, 'ending'),
      await bench.equip(tasks),
      asks('stop', []),
    );
    expect(record).toMatchObject({ status: 'failed', end: { reason: 'infrastructure_error' } });
    expect(record.end?.message).toContain('the service oracle ended too early. It printed: told to stop');
  });

  test('that does not start makes the run an infrastructure error, and its script must be there', async () => {
    const broken = 'raise SystemExit("no model found")';
    const tasks = bench.copyTask('broken', { 'task.yaml': withService, 'hidden/service.py': broken });
    const { record } = await runOnce(
      join(bench.experiments, 'broken'),
      await bench.equip(tasks),
      asks('hello', []),
    );
    expect(record.end?.message).toContain('no model found');
    const absent = bench.copyTask('absent', { 'task.yaml': withService });
    await expect(bench.equip(absent)).rejects.toThrow('hidden/service.py does not exist');
  });
});
