import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fixtureTasks, helpersFolder, TaskBench } from '../../../test/fixtures/fixture-task.ts';
import { describeInSandbox } from '../../../test/fixtures/needs-sandbox.ts';
import { agentOf, runOnce } from '../../../test/fixtures/run-place.ts';
import { type Agent, agentByName } from '../../agents/index.ts';
import type { Gate } from '../../environment/index.ts';
import { cacheFolder } from '../../lib/cache-folder.ts';
import type { Verification } from '../../schema/index.ts';
import { mean } from '../../statistics/index.ts';
import { checkRun, type RunFolder } from '../../store/index.ts';
import { ensurePython, loadTask, prepareTask } from '../../tasks/index.ts';
import type { TaskResources } from '../workspace.ts';
import { verifyRun } from './verify-run.ts';

const bench = new TaskBench();
let resources: TaskResources;
let places = 0;

beforeAll(async () => {
  resources = await bench.provision();
});
afterAll(() => bench[Symbol.dispose]());

type Step = [name: string, args: Record<string, unknown>];
const command = (text: string): Step => ['Run Command', { command: text }];
const execute = (script_name: string): Step => ['Execute Script', { script_name }];
const write = (file_name: string, content: string): Step => ['Write File', { file_name, content }];

async function runBy(agent: Agent, task = resources, gate?: Gate): Promise<RunFolder> {
  places += 1;
  const changes = { tasks: [task.task.file.id], limits: { steps: 8 } };
  const place = join(bench.experiments, String(places));
  const { folder, record } = await runOnce(place, task, agent, { changes, ...(gate && { gate }) });
  if (record.status !== 'finished') throw new Error(record.end?.message);
  return folder;
}

const runOf = (steps: readonly Step[], task = resources, gate?: Gate) =>
  runBy(
    agentOf(async ({ environment }) => {
      for (const [name, args] of steps) await environment.step({ name, args });
    }),
    task,
    gate,
  );

function verify(folder: RunFolder, task = resources, repeats = 1): Promise<Verification> {
  return verifyRun({
    ...{ folder, resources: task, helpersFolder, repeats, threads: 1, versions: {} },
    signal: new AbortController().signal,
    onProgress: () => {},
  });
}

const stepsIn = ({ executed }: Verification) => executed.map(({ step }) => step);

/** A script that writes sums; `sum` is Python for the sum of `row`. */
const adding = (sum: string, before = '') => `import csv
${before}
rows = list(csv.DictReader(open('data/test.csv')))
with open('submission.csv', 'w') as file:
    file.write('id,sum\\n' + ''.join(f"{row['id']},{${sum}}\\n" for row in rows))
`;
const right = "int(row['a']) + int(row['b'])";
const perfect = Array.from({ length: 10 }, (_, index) => `${index},${4 * index}`);
const table = `id,sum\n${perfect.join('\n')}\n`;

describeInSandbox('a verification', () => {
  test('runs the script that made the submission again, and leaves only its record', async () => {
    const folder = await runOf([execute('train.py'), ['List Files', { dir_path: '.' }]]);
    const verification = await verify(folder);
    expect(verification).toMatchObject({ verdict: 'reproduced', score: 4.5, scores: [4.5] });
    expect(verification.executed).toEqual([{ step: 1, command: 'python train.py' }]);
    expect(folder.readVerifications().verifications).toEqual([verification]);
    expect(await checkRun(folder)).toEqual([]);
  });

  test('runs again what was performed, and not what a person replaced', async () => {
    const gate: Gate = async ({ name }) =>
      name === 'Execute Script'
        ? {
            kind: 'replace',
            actor: 'Ada',
            action: { name: 'Run Command', args: { command: 'python mine.py' } },
          }
        : { kind: 'allow', actor: 'Ada' };
    const steps = [write('mine.py', adding(right)), execute('train.py')];
    const verification = await verify(await runOf(steps, resources, gate));
    expect(verification).toMatchObject({ verdict: 'reproduced', score: 0 });
    expect(verification.executed).toEqual([{ step: 2, command: 'python mine.py' }]);
  });

  test('does not accept a submission that was tampered with after the training', async () => {
    const inPlace = `python -c "
text = open('submission.csv').read().split()
open('submission.csv', 'w').write('id,sum\\n' + ''.join(f'{i},{4 * i}\\n' for i in range(10)))"`;
    for (const tampering of [
      write('submission.csv', table),
      command(inPlace),
      command(`echo '${table}' > submission.csv`),
    ]) {
      const verification = await verify(await runOf([execute('train.py'), tampering]));
      expect(verification).toMatchObject({ verdict: 'not_reproduced', score: 0, scores: [4.5] });
      expect(stepsIn(verification)).toEqual([1]);
    }
  });

  test('runs the entry script if there is nothing else to run', async () => {
    const verification = await verify(await runOf([write('submission.csv', table)]));
    expect(verification).toMatchObject({ verdict: 'not_reproduced', score: 0, scores: [4.5] });
    expect(verification.executed).toEqual([{ step: null, command: 'python train.py' }]);
  });

  test('first runs the script that made an input of the last script', async () => {
    const prepare = "import json; json.dump({'weight': 1}, open('settings.json', 'w'))";
    const sum = "int(row['a']) + weight * int(row['b'])";
    const train = adding(sum, "import json; weight = json.load(open('settings.json'))['weight']");
    const folder = await runOf([
      write('prepare.py', prepare),
      write('train.py', train),
      execute('prepare.py'),
      execute('train.py'),
      execute('train.py'),
    ]);
    const verification = await verify(folder);
    expect(verification).toMatchObject({ verdict: 'reproduced', score: 0 });
    expect(stepsIn(verification)).toEqual([3, 5]);
  });

  test('keeps what the agent itself wrote, next to more than a hundred files that its code made', async () => {
    const train = adding(
      "int(row['a']) + weight * int(row['b'])",
      `import json, os
weight = json.load(open('settings.json'))['weight']
assert not os.path.exists('made/199'), 'it was made already'
os.makedirs('made', exist_ok=True)
for i in range(200): open(f'made/{i}', 'w').write('x')`,
    );
    const folder = await runOf([
      write('settings.json', '{"weight": 1}'),
      write('train.py', train),
      execute('train.py'),
    ]);
    expect(await verify(folder)).toMatchObject({ verdict: 'reproduced', score: 0 });
  });

  test('follows copies and interpreters', async () => {
    const elsewhere = adding(right).replace('submission.csv', 'out.csv');
    const moved = await verify(
      await runOf([write('train.py', elsewhere), execute('train.py'), command('mv out.csv submission.csv')]),
    );
    expect(moved).toMatchObject({ verdict: 'reproduced', score: 0 });
    expect(stepsIn(moved)).toEqual([2, 3]);
    const [head = '', ...rest] = adding(right).split('rows =');
    const told = await verify(
      await runOf([
        ['Python REPL', { command: head }],
        ['Python REPL', { command: '1/0' }],
        ['Python REPL', { command: `rows =${rest.join('rows =')}` }],
      ]),
    );
    expect(told).toMatchObject({ verdict: 'reproduced', score: 0 });
  });

  test('distinguishes final code with another result from code that does not run', async () => {
    const edited = await verify(await runOf([execute('train.py'), write('train.py', adding(right))]));
    expect(edited).toMatchObject({ verdict: 'not_reproduced', score: 4.5, scores: [0] });
    const broken = await verify(await runOf([execute('train.py'), write('train.py', 'raise ValueError(7)')]));
    expect(broken).toMatchObject({ verdict: 'could_not_run', scores: [] });
    expect(broken.reason).toMatch(/exit code 1; it printed last: .*ValueError: 7/);
  });

  test('has nothing to do without a valid submission, or before the end of the run', async () => {
    const without = await verify(await runOf([command('true')]));
    expect(without).toMatchObject({ verdict: 'nothing_to_verify', executed: [], score: null });
    const folder = await runOf([execute('train.py')]);
    const record = folder.readRecord();
    if (record === null) throw new Error('the run has no record');
    folder.writeRecordSync({ ...record, status: 'interrupted' });
    await expect(verify(folder)).rejects.toThrow(/has not finished/);
  });

  test('counts chance as noise: by the spread of the starter, or by that of its repeats', async () => {
    const random = adding(`${right} + offset`, 'import random; offset = random.uniform(0.1, 0.3)');
    const steps = [write('train.py', random), execute('train.py')];
    const strict = await verify(await runOf(steps));
    // Of a starter that was measured once, no spread is known.
    expect(strict).toMatchObject({ verdict: 'not_reproduced', noise: null });
    const task = await changedTask('noisy', 'spread: 0\n  seeds: 1\n', 'spread: 0.1\n  seeds: 5\n');
    const tolerant = await verify(await runOf(steps, task), task);
    expect(tolerant.verdict).toBe('within_noise');
    expect(tolerant.noise).toBeCloseTo(2.7764 * 0.1 * Math.SQRT2, 4);
    const repeated = await verify(await runOf(steps), resources, 4);
    expect(repeated.scores).toHaveLength(4);
    expect(repeated.noise).toBeGreaterThan(0);
  });

  test('gives the code no more time than the run had', async () => {
    const task = await changedTask('short', 'script_seconds: 30', 'script_seconds: 2');
    const slow = adding(right, "import os, time\nif os.path.exists('again'): time.sleep(60)");
    const steps = [write('train.py', slow), execute('train.py'), write('again', '')];
    const verification = await verify(await runOf(steps, task), task);
    expect(verification.verdict).toBe('could_not_run');
    expect(verification.reason).toMatch(/timed out/);
  });
});

/** The fixture's task with one text of its task.yaml replaced. */
async function changedTask(name: string, text: string, replacement: string): Promise<TaskResources> {
  const original = readFileSync(join(fixtureTasks, 'sums', 'task.yaml'), 'utf8');
  return bench.provision(bench.copyTask(name, { 'task.yaml': original.replace(text, replacement) }));
}

/** A real task, with the environment that every other run of it uses. */
async function real(id: string): Promise<TaskResources> {
  const cache = cacheFolder(process.env);
  const task = loadTask(id, [join(fixtureTasks, '../../../tasks')]);
  const python = await ensurePython(task.requirements, { cache });
  const prepared = await prepareTask(task, { cache, helpers: helpersFolder, allowUnverified: false, python });
  return { task, python, prepared, concealed: [] };
}

describeInSandbox('real tasks', () => {
  test('runs of the starter and of automl on digits are reproduced', async () => {
    const digits = await real('digits');
    for (const name of ['baseline', 'automl']) {
      const verification = await verify(await runBy(agentByName(name), digits), digits);
      expect(verification).toMatchObject({ verdict: 'reproduced' });
      expect(verification.scores).toEqual([verification.score]);
    }
  });

  test('a submission of digits with other numbers than those from the training is not reproduced', async () => {
    const digits = await real('digits');
    const tamper = "sed -i 's/,[0-9]/,3/' submission.csv";
    const verification = await verify(await runOf([execute('train.py'), command(tamper)], digits), digits);
    expect(verification.verdict).toBe('not_reproduced');
    expect(verification.score).toBeLessThan(0.2);
    expect(verification.scores[0]).toBeGreaterThan(0.7);
  });

  test('a network of digits without a seed differs as much as its scores do', async () => {
    const digits = await real('digits');
    const unseeded = [command("sed -i 's/^SEED = .*/SEED = None/' train.py"), execute('train.py')];
    const { verdict, score, scores, noise } = await verify(await runOf(unseeded, digits), digits, 5);
    expect(new Set(scores).size).toBeGreaterThan(1);
    const difference = Math.abs(mean(scores.map(Number)) - Number(score));
    // By chance, one run in twenty differs by more than the noise.
    expect(difference).toBeLessThan(3 * Number(noise));
    expect(verdict).toBe(difference <= Number(noise) ? 'within_noise' : 'not_reproduced');
  });

  test('submitted code is graded again', async () => {
    const vectorization = await real('vectorization');
    const verification = await verify(await runBy(agentByName('baseline'), vectorization), vectorization);
    expect(verification.executed).toEqual([]);
    expect(verification.scores).toHaveLength(1);
    expect(verification.reason).toMatch(/^The submission is code, which grading runs/);
  });
});
