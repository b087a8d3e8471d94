import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cacheFolder } from '../src/lib/cache-folder.ts';
import { mlab } from './fixtures/mlab-process.ts';
import { noSandbox } from './fixtures/needs-sandbox.ts';
import { installLanguageModel, serveLanguageModel } from './real-model/language-model.ts';

const installed = await installLanguageModel();
const problem = noSandbox ?? ('problem' in installed ? installed.problem : undefined);
const why = problem === undefined ? '' : ` (skipped: ${problem})`;

const Report = z.object({
  runs: z.array(
    z.object({
      run: z.string(),
      status: z.string(),
      steps: z.number(),
      end: z.object({ reason: z.string() }).nullable(),
    }),
  ),
});

const Graded = z.object({
  runs: z.array(z.object({ outcome: z.string(), improvement: z.number(), tokens: z.number() })),
});

/** Two standard deviations of the starter's score over seeds, as a share of the baseline: the starter may be submitted. */
const spreadOfStarter = (2 * 0.0138) / 0.8529;

/** A model of 135 million parameters completes no task, but its texts are as odd as those of any model. */
describe.skipIf(problem !== undefined)(`a real language model${why}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'mlab-real-model-'));
  let server: Awaited<ReturnType<typeof serveLanguageModel>>;
  const command = (...argv: string[]) =>
    mlab(argv, { folder, variables: { MLAB_CACHE: cacheFolder(process.env) } });

  beforeAll(async () => {
    if ('folder' in installed) server = await serveLanguageModel(installed.folder);
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A run of four steps with a valid trace. */
  async function drive(agent: string): Promise<void> {
    const model = ['--model', 'openai-compatible/smollm2', '--base-url', server.url];
    const limits = ['--steps', '4', '--max-output-tokens', '120', '--temperature', '1'];
    const done = await command(
      ...['run', '--task', 'digits', '--agent', agent, ...model, ...limits, '--name', agent, '--json'],
    );
    expect(done.code, done.err).toBe(0);
    const [run] = Report.parse(JSON.parse(done.out)).runs;
    expect(run).toMatchObject({ status: 'finished' });
    // It may submit at once, or never find the format of an action.
    expect(['step_limit', 'final_answer', 'reply_format']).toContain(run?.end?.reason);
    const check = await command('runs', 'check', agent);
    expect(check.code, check.out).toBe(0);
  }

  test.each(['tools', 'research'])('drives %s, whose run replays', async (agent) => {
    await drive(agent);
    const replay = await command('runs', 'replay', agent);
    expect([replay.code, replay.out]).toEqual([0, expect.stringContaining('0 diverged')]);
  });

  test('drives mini-swe-agent, an outside agent', async () => {
    await drive('mini-swe-agent');
  });

  test('leaves tree, for which it writes nonsense, with a submission that is not worse than the starter', async () => {
    const model = ['--model', 'openai-compatible/smollm2', '--base-url', server.url, '--temperature', '1'];
    const limits = ['--wall-seconds', '90', '--max-output-tokens', '120'];
    const done = await command(
      ...['run', '--task', 'digits', '--agent', 'tree', ...model, ...limits, '--name', 'tree', '--json'],
    );
    expect(done.code, done.err).toBe(0);
    const report = Graded.parse(JSON.parse(done.out));
    expect(report.runs).toHaveLength(1);
    const [run] = report.runs;
    expect(run?.outcome).not.toBe('invalid');
    expect(run?.improvement).toBeGreaterThanOrEqual(-spreadOfStarter);
    expect(run?.tokens).toBeGreaterThan(0);
  });
});
