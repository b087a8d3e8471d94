import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { rewriter } from '../docs/how-to/write-an-agent/rewriter.ts';
import { ModelRegistry } from '../src/models/index.ts';
import { replayRun, type TaskResources } from '../src/runs/index.ts';
import { checkSandbox } from '../src/sandbox/index.ts';
import { checkRun } from '../src/store/index.ts';
import { TaskBench } from './fixtures/fixture-task.ts';
import { launcher } from './fixtures/mlab-process.ts';
import { runOnce } from './fixtures/run-place.ts';

/** What the pages of docs/how-to/ show is run here as it stands there. */
const root = join(import.meta.dirname, '..');
const missing = (await checkSandbox()).find(({ state }) => state === 'missing');
const why = missing === undefined ? '' : ` (skipped: ${missing.detail})`;

describe.skipIf(missing !== undefined)(`docs/how-to/write-an-agent.md${why}`, () => {
  const bench = new TaskBench();
  let resources: TaskResources;
  beforeAll(async () => {
    resources = await bench.provision();
  });
  afterAll(() => bench[Symbol.dispose]());

  test('the agent works on a real task, and its run replays', async () => {
    const script = [
      `I add the second number, too.\n\`\`\`python\n${betterSums}\`\`\``,
      'Nothing is left to gain.',
    ];
    writeFileSync(
      join(bench.folder, 'rewriter.jsonl'),
      script.map((text) => JSON.stringify(text)).join('\n'),
    );
    const registry = new ModelRegistry({ variables: {}, folder: bench.folder });
    const { record, folder, experiment } = await runOnce(bench.experiments, resources, rewriter, {
      changes: { models: ['scripted/rewriter.jsonl'] },
      models: { registry, shared: null },
    });
    expect(record).toMatchObject({ status: 'finished', steps: 5, end: { reason: 'final_answer' } });
    expect(await checkRun(folder)).toEqual([]);
    const [spec] = experiment.plan.runs;
    if (spec === undefined) throw new Error('the plan is empty');
    const replay = await replayRun(spec, folder, rewriter, resources.task);
    expect(replay).toMatchObject({ steps: 5, calls: 2, diverged: null });
  });
});

describe.skipIf(missing !== undefined)(`docs/how-to/local-models.md${why}`, () => {
  const experiments = mkdtempSync(join(tmpdir(), 'mlab-how-to-'));
  afterAll(() => rmSync(experiments, { recursive: true, force: true }));

  const Output = z.object({
    runs: z.array(
      z.object({ run: z.string(), steps: z.number(), end: z.object({ reason: z.string() }).nullable() }),
    ),
    cells: z.array(z.object({ runs: z.number(), success: z.object({ successes: z.number() }) })),
  });

  test('the scripted model carries the agent through digits, and the run replays', async () => {
    const model = 'scripted/docs/how-to/scripted-digits.yaml';
    const ran = await mlab('run', '--task', 'digits', '--agent', 'tools', '--model', model, '--name', 'it');
    expect(ran.code, ran.err).toBe(0);
    const { runs, cells } = Output.parse(JSON.parse(ran.out));
    expect(runs).toMatchObject([{ steps: 8, end: { reason: 'final_answer' } }]);
    expect(cells).toMatchObject([{ runs: 1, success: { successes: 1 } }]);
    const replayed = await mlab('runs', 'replay', 'it');
    expect(replayed.code, replayed.out).toBe(0);
  });

  /** Run in the checkout, with the cache that is there: the task's packages are large. */
  async function mlab(...argv: string[]): Promise<{ code: number | null; out: string; err: string }> {
    const child = spawn(process.execPath, [launcher, '--dir', experiments, '--json', ...argv], { cwd: root });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return { code, out, err };
  }
});

const betterSums = `
import csv

with open("data/test.csv") as file:
    rows = list(csv.DictReader(file))

with open("submission.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", "sum"])
    writer.writerows([row["id"], int(row["a"]) + int(row["b"])] for row in rows)
`;
