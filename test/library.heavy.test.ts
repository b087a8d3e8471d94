import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runExperiment, UserError } from 'mlagentbench';
import { readExperiment, readExperiments } from 'mlagentbench/store';
import { afterAll, expect, test } from 'vitest';
import { compare } from '../docs/how-to/use-as-a-library/compare.ts';
import { describeInSandbox } from './fixtures/needs-sandbox.ts';

describeInSandbox('docs/how-to/use-as-a-library.md', () => {
  const dir = mkdtempSync(join(tmpdir(), 'mlab-library-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test('its example runs an agent with two seeds and prints the result of each', async () => {
    expect(await compare('baseline', 2, dir)).toEqual([
      expect.stringMatching(/^digits-baseline-0: 0\.\d+ after Execute Script, Final Answer$/),
      expect.stringMatching(/^digits-baseline-1: 0\.\d+ after Execute Script, Final Answer$/),
    ]);
  });

  test('a store is read without running anything: steps, events, workspaces', async () => {
    const [experiment] = readExperiments(dir);
    expect(experiment?.name).toBe('seeds');
    const again = readExperiment(join(dir, 'seeds'));
    const [first] = [...again.steps('digits-baseline-0')];
    expect(first).toMatchObject({ number: 1, args: { script_name: 'train.py' }, status: 'ok' });
    expect(first?.observation).toContain('accuracy');
    expect(again.events('digits-baseline-0').map(({ kind }) => kind)).toContain('run_ended');
    await again.restore('digits-baseline-0', 1, join(dir, 'after-1'));
    expect(existsSync(join(dir, 'after-1/submission.csv'))).toBe(true);
    await expect(again.restore('digits-baseline-0', 1, join(dir, 'after-1'))).rejects.toThrow('is not empty');
    await expect(again.restore('digits-baseline-0', 9, join(dir, 'after-9'))).rejects.toThrow('step 9');
  });

  test('unknown keys and arguments of other types are reported before anything is run', async () => {
    const wrong = { tasks: ['digits'], agents: ['baseline'], seed: 3 };
    await expect(runExperiment(wrong as object, { dir })).rejects.toThrow(UserError);
    const text: unknown = 'experiments';
    await expect(runExperiment({}, text as object)).rejects.toThrow('takes an object');
    await expect(runExperiment({ tasks: ['nothing'] }, { dir })).rejects.toMatchObject({
      hint: expect.any(String),
    });
  });

  test('an aborted signal keeps the recorded steps, and the same call resumes', async () => {
    const file = { name: 'stopped', tasks: ['digits'], agents: ['baseline'], seeds: 2, parallel: 1 };
    const stop = new AbortController();
    const onProgress = (line: string) => line.startsWith('digits-baseline-0: score') && stop.abort();
    const stopped = await runExperiment(file, { dir, sample: true, signal: stop.signal, onProgress });
    const [first, second] = (await stopped.runs()).runs.map(({ status }) => status);
    expect(first).toBe('finished');
    expect(second).not.toBe('finished');
    const { runs } = await (await runExperiment(file, { dir, sample: true })).runs();
    expect(runs.map(({ status }) => status)).toEqual(['finished', 'finished']);
  });
});
