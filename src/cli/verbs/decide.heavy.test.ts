import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { fixtureTasks, TaskBench } from '../../../test/fixtures/fixture-task.ts';
import { mlab, startMlab } from '../../../test/fixtures/mlab-process.ts';
import { describeInSandbox } from '../../../test/fixtures/needs-sandbox.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { Job } from '../../schema/index.ts';
import { checkRun, openExperiment, readTraceSync, stepsOf } from '../../store/index.ts';

const bench = new TaskBench();
const place = { folder: bench.folder, variables: { MLAB_CACHE: bench.cache } };
afterAll(() => bench[Symbol.dispose]());

const run = (...argv: string[]) => mlab(['--task-dir', fixtureTasks, ...argv], place);
const write = (content: string) => ({ name: 'Write_File', input: { file_name: 'notes.txt', content } });
const finish = { name: 'Final_Answer', input: { final_answer: 'done' } };

function script(name: string, ...calls: object[]): string {
  const replies = calls.map((call) => JSON.stringify({ tool_calls: [call] }));
  writeFileSync(join(bench.folder, name), replies.join('\n'));
  return `scripted/${name}`;
}

const folderOf = (name: string) => {
  const experiment = openExperiment(join(bench.folder, 'experiments', name));
  const [spec] = experiment.plan.runs;
  if (spec === undefined) throw new Error('the plan is empty');
  return experiment.runFolder(spec.id);
};

describeInSandbox('a run whose actions wait for decisions', () => {
  test('occupies no process while it waits, and is resumed when the decision is on disk', async () => {
    const model = script('one.jsonl', write('one'), write('two'), finish, finish);
    const begin = [
      'run',
      '--task',
      'sums',
      '--agent',
      'tools',
      '--model',
      model,
      '--name',
      'one',
      '--approve-later',
    ];
    const planner = startMlab(['--task-dir', fixtureTasks, ...begin], place);
    const status = () => {
      try {
        const folder = folderOf('one');
        return folder.holder() === null ? folder.readRecord()?.status : 'held';
      } catch {
        return 'none';
      }
    };
    await until('it waits', () => status() === 'waiting');
    const folder = folderOf('one');
    const name = `one/${folder.id}`;
    expect(folder.readRecord()).toMatchObject({
      v: 3,
      waits_for: [{ branch: 'main', step: 1, action: 'Write File' }],
    });
    expect((await run('decide', name)).out).toMatch(
      /^Step 1: the agent wants to Write File\n[\s\S]*"content": "one"/,
    );
    expect((await run('runs', 'ls', 'one')).out).toContain('waiting');
    expect((await run('decide', name, 'deny', '--reason', 'Not this.', '--step', '1')).code).toBe(0);
    const twice = await run('decide', name, 'allow', '--step', '1');
    expect([twice.code, twice.err]).toEqual([
      2,
      expect.stringMatching(/decided|is not waiting for a decision/),
    ]);
    await until(
      'it waits for the second',
      () => folderOf('one').readRecord()?.waits_for?.[0]?.step === 2 && status() === 'waiting',
    );
    // The process that planned it has ended; the decision waits for another one to execute it.
    planner.process.kill('SIGINT');
    expect((await planner.ended).code).toBe(130);
    expect(folder.readRecord()?.status).toBe('waiting');
    const wrong = [
      ['Read Fil {"file_name": "train.py"}', /There is no action "Read Fil"\. Did you mean "Read File"\?/],
      [
        'Read File {"file_nam": "train.py"}',
        /"file_nam" is not an argument of it; did you mean "file_name"\?/,
      ],
      ['Read File', /the argument "file_name" is missing/],
      // It needs a person, and nobody is asked in this run.
      ['Request Help {"request": "x"}', /There is no action "Request Help"/],
    ] as const;
    const decided = () => readdirSync(join(folder.folder, 'decisions'));
    const before = decided();
    for (const [instead, said] of wrong) {
      const refused = await run('decide', name, 'replace', '--instead', instead);
      expect([refused.code, refused.err]).toEqual([2, expect.stringMatching(said)]);
      expect(decided()).toEqual(before);
    }
    await run(
      'decide',
      name,
      'replace',
      '--instead',
      'Write File {"file_name": "notes.txt", "content": "mine"}',
    );
    const again = startMlab(['--task-dir', fixtureTasks, ...begin], place);
    for (const step of [3, 4]) {
      await until(
        `step ${step} waits`,
        () => status() === 'finished' || folderOf('one').readRecord()?.waits_for?.[0]?.step === step,
      );
      if (status() !== 'finished') await run('decide', name, 'allow');
    }
    expect((await again.ended).code).toBe(0);
    expect(await checkRun(folder)).toEqual([]);
    const { events } = readTraceSync(folder.tracePath);
    const steps = stepsOf(events);
    expect(
      steps.slice(0, 2).map(({ decided, finished }) => [decided?.verdict, decided?.reason, finished.status]),
    ).toEqual([
      ['deny', 'Not this.', 'refused'],
      ['replace', undefined, 'ok'],
    ]);
    const report = JSON.parse((await run('report', 'one', '--format', 'json')).out);
    expect(report.runs[0].caveats).toEqual([expect.stringMatching(/its steps \S+ replaced 1, denied 1$/)]);
    expect((await run('runs', 'show', name)).out).toMatch(/\[denied by \S+: Not this\.\]/);
    expect((await run('runs', 'replay', 'one')).code).toBe(0);
  }, 180_000);

  test('frees its worker, which reports it; the same job resumes with the decision, also after a kill', async () => {
    const model = script('two.jsonl', write('one'), finish, finish);
    const begin = [
      'run',
      '--task',
      'sums',
      '--agent',
      'tools',
      '--model',
      model,
      '--name',
      'two',
      '--approve-later',
    ];
    const planner = startMlab(['--task-dir', fixtureTasks, ...begin], place);
    await until('it waits', () => planner.said().includes('waits for a decision'));
    planner.process.kill('SIGINT');
    await planner.ended;
    const folder = folderOf('two');
    const record = folder.readRecord();
    if (record === null) throw new Error('the run has begun');
    const { spec } = record;
    const job: Job = {
      ...{
        kind: 'run',
        v: 1,
        mlab: record.versions.mlab ?? '',
        experiment: join(folder.folder, '../..'),
        run: spec,
        archived_attempts: 0,
      },
      task: { id: spec.task, version: spec.task_version, folder: join(fixtureTasks, 'sums') },
      provisioning: { allow_unverified: false },
      models: { providers: {}, prices: {}, folder: bench.folder },
      quota: {},
      resources: { cores: 1, memory_mb: 512, gpu: false, threads: 1, exclusive: false },
    };
    const file = join(bench.folder, 'job.json');
    writeFileSync(file, JSON.stringify(job));
    const trace = readFileSync(folder.tracePath, 'utf8');
    const waits = await run('worker', file);
    expect([waits.code, waits.out]).toEqual([
      1,
      expect.stringContaining('waits for a decision on step 1 (Write File)'),
    ]);
    // Nobody had decided, so nothing had begun.
    expect(readFileSync(folder.tracePath, 'utf8')).toBe(trace);
    await run('decide', `two/${folder.id}`, 'allow');
    const worker = startMlab(['--task-dir', fixtureTasks, 'worker', file], place);
    await until('it is decided', () => readFileSync(folder.tracePath, 'utf8').includes('action_decided'));
    worker.process.kill('SIGKILL');
    await worker.ended;
    const next = await run('worker', file);
    expect(next.out).toContain('waits for a decision on step 2 (Final Answer)');
    const { events } = readTraceSync(folder.tracePath);
    expect(stepsOf(events)).toMatchObject([
      { step: 1, decided: { verdict: 'allow' }, finished: { status: 'ok' } },
    ]);
    expect(await checkRun(folder)).toEqual([]);
  }, 120_000);
});
