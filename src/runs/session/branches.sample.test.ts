import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { helpersFolder, TaskBench } from '../../../test/fixtures/fixture-task.ts';
import { describeInSandbox } from '../../../test/fixtures/needs-sandbox.ts';
import { agentOf, runOnce } from '../../../test/fixtures/run-place.ts';
import { traceText } from '../../../test/fixtures/store/trace-text.ts';
import { gradeRun } from '../../grading/index.ts';
import { checkRun, currentGrades, readTraceSync, recordedStates, stepsOf } from '../../store/index.ts';
import { isGraded } from '../graded.ts';
import { replayRun, type TaskResources } from '../index.ts';

const bench = new TaskBench();
let resources: TaskResources;

beforeAll(async () => {
  resources = await bench.provision();
});
afterAll(() => bench[Symbol.dispose]());

/** What commands on each branch saw. */
const seen: string[] = [];
const forking = agentOf(async ({ environment }) => {
  const command = (text: string) => ({ name: 'Run Command', args: { command: text } });
  await environment.step(command('seq 1 20000; echo common > notes.txt'));
  const [one, other] = await Promise.all([environment.fork(), environment.fork(1)]);
  const results = await Promise.all([
    one.step(command('cat notes.txt; echo one > notes.txt; sleep 0.2; cat notes.txt')),
    other.step(command('cat notes.txt; echo other > notes.txt; sleep 0.2; cat notes.txt')),
    environment.step(command('echo main > notes.txt; sleep 0.2; cat notes.txt; ls -a .. | grep -c branches')),
    // Long outputs can be read again on every branch.
    one.step(command('tail -n 1 .outputs/step-00001.txt')),
  ]);
  seen.push(...results.map(({ observation }) => observation.replaceAll(/\n\[exit.*/g, '').trim()));
  environment.select(other);
  await environment.step({ name: 'Final Answer', args: { final_answer: 'done' } });
}, 'forking');

describeInSandbox('a run of several branches', () => {
  test('keeps their workspaces separate, is graded on the selected one, and leaves nothing behind', async () => {
    const { folder, record } = await runOnce(bench.experiments, resources, forking);
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'final_answer' }, steps: 6 });
    expect(seen).toEqual(['common\none', 'common\nother', 'main\n0', '20000']);
    expect(await checkRun(folder)).toEqual([]);
    const { events } = readTraceSync(folder.tracePath);
    const ended = events.at(-1);
    expect(ended).toMatchObject({ kind: 'run_ended', branch: 'b2' });
    expect(recordedStates(folder).map(({ step, final }) => [step, final])).toEqual([
      ...[
        [0, false],
        [1, false],
        [2, true],
      ],
    ]);
    expect(currentGrades([], recordedStates(folder))).toEqual([]);
    for (const place of ['workspace', 'branches/b1/workspace', 'branches/b2/workspace'])
      expect(existsSync(join(folder.folder, place)), place).toBe(false);
    // Of main, b1 and b2: those of the selected branch first.
    const options = {
      folder,
      ...resources,
      helpersFolder,
      which: 'all' as const,
      signal: new AbortController().signal,
    };
    const grades = await gradeRun(options);
    const of = grades.map(({ branch = 'main', step, final }) => `${branch} ${step}${final ? ' final' : ''}`);
    expect(of.slice(0, 3)).toEqual(['main 0', 'main 1', 'b2 2 final']);
    expect(of.slice(3).toSorted()).toEqual(['b1 2', 'b1 3', 'main 2', 'main 3']);
    expect(isGraded(folder, 'all')).toBe(true);
    const lines = folder.readGrades().grades.length;
    await gradeRun(options);
    expect(folder.readGrades().grades).toHaveLength(lines);
    const replayed = await replayRun(record.spec, folder, forking, resources.task);
    expect(replayed).toMatchObject({ steps: 6, diverged: null });
  });

  test.each<[number, { branches_at_once?: number }]>([
    [1, { branches_at_once: 1 }],
    [2, { branches_at_once: 2 }],
    // Its one core.
    [1, {}],
  ])('takes %i steps at once if its limits are %j, as its trace shows', async (most, limits) => {
    const agent = agentOf(async ({ environment }) => {
      const branches = await Promise.all([environment.fork(), environment.fork(), environment.fork()]);
      const command = { name: 'Run Command', args: { command: 'sleep 0.1' } };
      await Promise.all(branches.map((branch) => branch.step(command)));
    }, 'at-once');
    const changes = { name: `at-once-${limits.branches_at_once ?? 'cores'}`, limits };
    const { folder, record } = await runOnce(bench.experiments, resources, agent, { changes });
    expect(record.spec.limits).toMatchObject(limits);
    const { events } = readTraceSync(folder.tracePath);
    expect(events.find(({ kind }) => kind === 'session_started')).toMatchObject({ branches_at_once: most });
    let open = 0;
    const together = events.map(({ kind }) => {
      if (kind === 'step_started') open += 1;
      if (kind === 'step_finished') open -= 1;
      return open;
    });
    expect(Math.max(...together)).toBe(most);
  });

  test('resumes after a kill at any moment, each branch from its own last step', async () => {
    for (const share of [0.2, 0.5, 0.8]) {
      const place = join(bench.folder, String(share));
      const { folder } = await runOnce(place, resources, forking);
      const text = traceText(folder.tracePath);
      const lines = text.split('\n');
      const kept = lines.slice(0, Math.floor(lines.length * share)).join('\n').length + 20;
      writeFileSync(folder.tracePath, text.slice(0, kept));
      seen.length = 0;
      const again = await runOnce(place, resources, forking);
      expect(again.record, `at ${share}`).toMatchObject({ status: 'finished', steps: 6 });
      expect(seen, `at ${share}`).toEqual(['common\none', 'common\nother', 'main\n0', '20000']);
      expect(await checkRun(folder)).toEqual([]);
      expect(stepsOf(readTraceSync(folder.tracePath).events)).toHaveLength(6);
    }
  });
});
