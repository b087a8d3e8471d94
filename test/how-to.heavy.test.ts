import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { rewriter } from '../docs/how-to/write-an-agent/rewriter.ts';
import { ModelRegistry } from '../src/models/index.ts';
import { replayRun, type TaskResources } from '../src/runs/index.ts';
import { checkRun } from '../src/store/index.ts';
import { inTurns, startProviderServer } from './fakes/providers/index.ts';
import { TaskBench } from './fixtures/fixture-task.ts';
import { launcher } from './fixtures/mlab-process.ts';
import { describeInSandbox } from './fixtures/needs-sandbox.ts';
import { runOnce } from './fixtures/run-place.ts';

/** Runs the code in the pages of docs/how-to/ exactly as they show it. */
const root = join(import.meta.dirname, '..');

describeInSandbox('docs/how-to/write-an-agent.md', () => {
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

describeInSandbox('the commands of docs/quick-start.md and docs/tutorials', () => {
  const experiments = mkdtempSync(join(tmpdir(), 'mlab-how-to-'));
  afterAll(() => rmSync(experiments, { recursive: true, force: true }));

  const Output = z.object({
    runs: z.array(
      z.object({ run: z.string(), steps: z.number(), end: z.object({ reason: z.string() }).nullable() }),
    ),
    pairs: z.array(z.object({ agent: z.string(), success: z.object({ successes: z.number() }) })),
  });
  /** Lines that need a key, a browser or the page's file; another test runs the result of mlab init. */
  const isLeftOut = (line: string) =>
    /anthropic|openai|compare\.yaml|experiment\.yaml|mlab (view|doctor|init)/.test(line);
  const shown = [...readFileSync(join(root, 'docs/quick-start.md'), 'utf8').matchAll(/^```sh\n(.*?)^```/gms)]
    .flatMap(([, code = '']) => code.split('\n'))
    .filter((line) => line.startsWith('npx mlab ') && !isLeftOut(line))
    .map((line) => line.replace('npx mlab ', '').replace(/ +#.*/, ''));

  test('those of the quick start that need no key work as shown, one after the other', async () => {
    expect(shown.length).toBeGreaterThan(6);
    for (const command of shown) {
      const { code, err } = await mlab(command.split(' '));
      expect(code, `mlab ${command}\n${err}`).toBe(0);
    }
    const baselines = Output.parse(JSON.parse((await mlab(['report', 'range'])).out));
    expect(baselines.pairs.map(({ agent, success }) => [agent, success.successes])).toEqual([
      ['baseline', 0],
      ['oracle', 2],
    ]);
    const scripted = Output.parse(JSON.parse((await mlab(['report', 'scripted'])).out));
    expect(scripted.runs).toMatchObject([{ steps: 8, end: { reason: 'final_answer' } }]);
    expect(scripted.pairs).toMatchObject([{ success: { successes: 1 } }]);
    const replayed = await mlab(['runs', 'replay', 'scripted']);
    expect(replayed.code, replayed.out).toBe(0);
  });

  test('the agent of the tutorial works on a task with a scripted model', async () => {
    const turns = [
      { run: "sed -i 's/^LEARNING_RATE = .*/LEARNING_RATE = 0.1/' train.py && python train.py" },
      { text: 'I raised the learning rate.' },
    ];
    await using server = await startProviderServer({ answer: inTurns({ turns }) });
    const program = 'command:python docs/tutorials/outside-agent/my_agent.py';
    const { code, err, out } = await mlab(
      ['run', '--task', 'digits', '--agent', program, '--model', 'openai/gpt-5', '--money', '1'],
      { OPENAI_API_KEY: 'sk-a-key-of-the-tests', OPENAI_BASE_URL: server.baseUrls.openai },
    );
    expect(code, err).toBe(0);
    const { runs, pairs } = Output.parse(JSON.parse(out));
    expect(runs).toMatchObject([{ steps: 2, end: { reason: 'final_answer' } }]);
    expect(pairs).toMatchObject([{ success: { successes: 1 } }]);
  });

  /** Run in the checkout, with the existing cache: the task's packages are large. */
  async function mlab(
    argv: readonly string[],
    variables: Record<string, string> = {},
  ): Promise<{ code: number | null; out: string; err: string }> {
    const child = spawn(process.execPath, [launcher, '--dir', experiments, '--json', ...argv], {
      ...{ cwd: root, env: { ...process.env, ...variables } },
    });
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
