import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { startMlab } from '../../../test/fixtures/mlab-process.ts';
import { openExperiment } from '../../store/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'mlab-trace-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
cpSync(join(import.meta.dirname, '../../../test/fixtures/store/version-1'), join(folder, 'old'), {
  recursive: true,
});
const run = 'old/digits-tools-scripted-old-jsonl-0';
const mlab = (...argv: string[]) =>
  startMlab(['runs', 'trace', ...argv, '--dir', folder], { folder, variables: {} }).ended;

describe('mlab runs trace', () => {
  test('prints the lines of a trace as they were written, also those of a compressed one', async () => {
    const runFolder = openExperiment(join(folder, 'old')).runFolder('digits-tools-scripted-old-jsonl-0');
    const written = readFileSync(runFolder.tracePath, 'utf8');
    expect((await mlab(run)).out).toBe(written);
    await runFolder.compressTrace();
    expect((await mlab(run)).out).toBe(written);
    const finished = (await mlab(run, '--kind', 'step_finished,run_ended')).out;
    expect(finished.trimEnd().split('\n')).toHaveLength(6);
    expect(written).toContain(finished.slice(0, finished.indexOf('\n')));
  });

  test('names the run in each line for an experiment, and shows long texts on request', async () => {
    const { out } = await mlab('old', '--kind', 'step_finished', '--texts');
    const events = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(new Set(events.map((event) => event.run))).toEqual(new Set(['digits-tools-scripted-old-jsonl-0']));
    expect(events[1].observation.text).toContain('LEARNING_RATE = 0.002');
    const json = JSON.parse((await mlab('old', '--kind', 'note', '--json')).out);
    expect(json.events[0]).toMatchObject({
      kind: 'note',
      entries: { Thought: { text: 'I look at the files.' } },
    });
  });

  test('lists the kinds of events', async () => {
    const { code, err } = await mlab(run, '--kind', 'dream');
    expect(code).toBe(2);
    expect(err).toMatch(/Choose from: session_started, .*step_started, .*branch_forked, .*run_ended/);
  });
});
