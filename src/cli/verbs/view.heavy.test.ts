import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { mlab, startMlab } from '../../../test/fixtures/mlab-process.ts';
import { makeExampleRun } from '../../../test/fixtures/store/example-run.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { ExperimentList, ExperimentPage, ReportFile, ReportPage, TaskPage } from '../../schema/index.ts';

const Printed = z.object({ url: z.string(), port: z.int(), token: z.string().nullable() });

async function place() {
  const folder = temporaryFolder();
  await makeExampleRun(join(folder, 'experiments'));
  return { folder };
}

/** A viewer in a separate process, and the document that it prints when it is ready. */
function begin(folder: string) {
  const started = startMlab(['view', '--json'], { folder });
  onTestFinished(() => void started.process.kill('SIGKILL'));
  let text = '';
  started.process.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const printed = async () => {
    while (!text.endsWith('}\n') && started.process.exitCode === null) await sleep(20);
    return text;
  };
  return { ...started, printed };
}

test('view prints its address, answers, and ends cleanly on Ctrl-C; a second one finds another port', async () => {
  const { folder } = await place();
  const started = [1, 2].map(() => begin(folder));
  const ports = new Set<number>();
  for (const one of started) {
    const { url, port, token } = Printed.parse(JSON.parse(await one.printed()));
    ports.add(port);
    expect(token).toBeNull();
    expect(await (await fetch(url)).text()).toContain('<div id="root">');
    const list = ExperimentList.parse(await (await fetch(`${url}api/experiments`)).json());
    expect(list.experiments.map(({ id }) => id)).toEqual(['first']);
  }
  expect(ports.size).toBe(2);
  for (const one of started) {
    one.process.kill('SIGINT');
    const { code, err } = await one.ended;
    expect(code).toBe(0);
    expect(err).toMatch(/mlab: Stopped\.\n$/);
  }
});

test('an export is a folder of files, and an HTML report is one file that contains its data', async () => {
  const { folder } = await place();
  const exported = await mlab(['view', 'experiments/first', '--export', 'page', '--json'], { folder });
  expect(exported.code, exported.err).toBe(0);
  expect(JSON.parse(exported.out)).toMatchObject({ experiments: 1, runs: 2, steps: 2, left: [] });
  expect(existsSync(join(folder, 'page/api/experiments/first/runs/digits-baseline-0/steps/2.json'))).toBe(
    true,
  );
  expect(readFileSync(join(folder, 'page/index.html'), 'utf8')).toContain('content="export"');
  const report = await mlab(['report', 'first', '--format', 'html'], { folder });
  const data = /<script type="application\/json" id="mlab-data">(.*?)<\/script>/s.exec(report.out)?.[1] ?? '';
  expect(ReportFile.parse(JSON.parse(data))).toMatchObject({
    title: 'first',
    report: { experiments: ['first'] },
  });
});

test('an export of one run contains no other run of its experiment', async () => {
  const { folder } = await place();
  const run = 'first/digits-baseline-0';
  const exported = await mlab(['view', run, '--export', 'page'], { folder });
  expect(exported.code, exported.err).toBe(0);
  expect(exported.out).toContain('1 experiment, 1 run, 2 steps in ');
  expect(exported.out).toContain('python3 -m http.server --directory ');
  const read = (address: string): unknown =>
    JSON.parse(readFileSync(join(folder, 'page/api', `${address}.json`), 'utf8'));
  expect(readdirSync(join(folder, 'page/api/experiments/first/runs')).toSorted()).toEqual([
    'digits-baseline-0',
    'digits-baseline-0.json',
  ]);
  expect(ExperimentPage.parse(read('experiments/first')).runs).toHaveLength(1);
  expect(ReportPage.parse(read('experiments/first/report')).report?.runs).toMatchObject([
    { run: 'digits-baseline-0' },
  ]);
  expect(TaskPage.parse(read('tasks/digits')).runs).toHaveLength(1);
});

test('wrong flags are reported before anything is started', async () => {
  const { folder } = await place();
  for (const [argv, message] of [
    [['view', '--port', 'many'], /--port many: not a valid number/],
    [['view', '--host', 'no.such.host.invalid'], /Can't listen on/],
    [['view', '--export', 'experiments'], /is not empty/],
  ] as const) {
    const { code, err } = await mlab(argv, { folder });
    expect(err).toMatch(message);
    expect([2, 3]).toContain(code);
  }
});
