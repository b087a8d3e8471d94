import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { mlab } from '../../../test/fixtures/mlab-process.ts';
import { makeExampleRun } from '../../../test/fixtures/store/example-run.ts';
import {
  exampleGrade,
  examplePlan,
  exampleRecord,
  exampleSpec,
  modelCall,
  runEnded,
  sessionStarted,
} from '../../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { archiveAttempt } from '../../runs/index.ts';
import { ExperimentName, Report, type RunParent, type RunSpec } from '../../schema/index.ts';
import {
  createExperiment,
  type Experiment,
  forkRun,
  openExperiment,
  type RunFolder,
  readTraceSync,
  spentOf,
} from '../../store/index.ts';
import { createContext } from '../context.ts';
import { dollars } from '../table.ts';
import { report } from './report.ts';

let folder: string;
let first: Experiment;
let said: string[];

/** Two runs of one task, by two agents: the baseline's was graded, the other's ended without a valid submission. */
beforeEach(async () => {
  folder = temporaryFolder();
  said = [];
  const { snapshot } = await makeExampleRun(folder);
  first = createExperiment(join(folder, 'first'), examplePlan());
  for (const [index, spec] of first.plan.runs.entries()) {
    if (index === 0) continue;
    const run = first.runFolder(spec.id);
    mkdirSync(run.folder, { recursive: true });
    run.writeRecordSync(
      exampleRecord({
        ...{ spec: { ...spec, agent: 'noop' }, status: 'finished' },
        end: { reason: 'final_answer', message: '' },
      }),
    );
    await using trace = run.openTrace();
    trace.append(sessionStarted(snapshot));
    trace.append(runEnded());
    run.appendGrade({ ...exampleGrade(snapshot), valid: false, score: null, step: 0 });
  }
});

async function make(names: string[], flags: object = {}) {
  const context = createContext({ dir: folder }, {}, 'test', new AbortController().signal);
  const options = { format: 'text', convention: 'every-run', ...flags };
  return report.run({ ...context, log: (line) => said.push(line) }, names, options);
}

function snapshotOf(run: RunFolder) {
  const [begun] = readTraceSync(run.tracePath).events;
  if (begun?.kind !== 'session_started') throw new Error('a run begins with a session');
  return begun.snapshot;
}

describe('mlab report', () => {
  it('is the same every time, byte for byte, in every format', async () => {
    for (const format of ['text', 'markdown', 'csv', 'latex', 'json']) {
      const { text } = await make(['first'], { format });
      expect((await make(['first'], { format })).text).toBe(text);
      expect(text).toContain('baseline');
    }
  });

  it('says what runs do that are not finished or failed, where and why, and nothing if all are finished', async () => {
    expect((await make(['first'])).text).not.toContain('ot finished');
    const experiment = ExperimentName.parse('later');
    const { runs, ...rest } = examplePlan(['queued', 'running', 'failed']);
    const plan = { ...rest, name: experiment, runs: runs.map((spec) => ({ ...spec, experiment })) };
    const later = createExperiment(join(folder, 'later'), plan);
    later.recordExecutor('slurm');
    const record = (index: number, changes: object) => {
      const spec = plan.runs[index];
      if (spec !== undefined) later.runFolder(spec.id).writeRecordSync(exampleRecord({ spec, ...changes }));
    };
    using _running = later.runFolder('running').lock();
    record(1, { status: 'running' });
    const end = { reason: 'infrastructure_error', message: 'no bwrap', cause: 'sandbox' };
    record(2, { status: 'failed', end });
    const { text, json } = await make(['first', 'later']);
    expect(text).toContain('Not finished or failed: 3 runs: 1 queued, 1 running, 1 failed.');
    expect(text).toMatch(/later\/queued +queued +slurm/);
    const place = `process ${process.pid}`;
    expect(text).toMatch(new RegExp(`later/running +running +.*${place}`));
    expect(text).toMatch(/later\/failed +failed +sandbox: no bwrap/);
    expect(json).toMatchObject({
      incomplete: expect.arrayContaining([
        { run: 'later/running', state: 'running', where: expect.stringContaining(place), why: '' },
      ]),
    });
  });

  it('adds the cost of discarded attempts, which the rows do not show', async () => {
    const run = first.runFolder('digits-baseline-0');
    run.writeRecordSync(exampleRecord({ status: 'failed' }));
    expect((await make(['first'])).text).toContain(', $0.0030 in all. ');
    await archiveAttempt(run);
    run.writeRecordSync(exampleRecord({ status: 'running', started: 7 }));
    const { text, json } = await make(['first']);
    expect(text).toContain(', $0 in all, plus $0.0030 in discarded attempts. ');
    expect(json).toMatchObject({ discarded: { money: 0.003, estimated: false } });
  });

  it('counts a discarded attempt once beside a copy of the experiment', async () => {
    const run = first.runFolder('digits-baseline-0');
    run.writeRecordSync(exampleRecord({ status: 'failed', end: { reason: 'agent_error', message: '' } }));
    cpSync(first.folder, join(folder, 'copy'), { recursive: true });
    await archiveAttempt(run);
    run.writeRecordSync(exampleRecord({ status: 'running', started: 7 }));
    const { text, json } = await make(['first', 'copy']);
    expect(json).toMatchObject({
      discarded: { money: 0.003 },
      copies: [{ experiment: 'copy', of: 'first', runs: ['digits-baseline-0', 'digits-noop-0'] }],
    });
    expect(text).toContain(', $0 in all, plus $0.0030 in discarded attempts. ');
    // Discarded in both folders.
    const copied = openExperiment(join(folder, 'copy')).runFolder('digits-baseline-0');
    await archiveAttempt(copied);
    copied.writeRecordSync(exampleRecord({ status: 'running', started: 8 }));
    expect((await make(['first', 'copy'])).json).toMatchObject({ discarded: { money: 0.003 } });
  });

  it('counts each call once in the cost of all, with forks beside their parent and branches that people began', async () => {
    const source = first.runFolder('digits-baseline-0');
    const continued = async (experiment: Experiment, spec: RunSpec, parent: RunParent) => {
      const run = experiment.runFolder(spec.id);
      mkdirSync(run.folder, { recursive: true });
      await forkRun(source, parent, run);
      const shared = { steps: 1, seconds_used: 1, spent: spentOf(readTraceSync(run.tracePath).events) };
      await using trace = run.openTrace();
      trace.append({ ...sessionStarted(snapshotOf(run), 2), parent });
      trace.append(modelCall(2, { cost: 0.5 }));
      trace.append(runEnded());
      const end = { reason: 'final_answer', message: '' } as const;
      run.writeRecordSync(
        exampleRecord({ spec: { ...spec, parent }, status: 'finished', end, shared, steps: 1 }),
      );
      return shared.spent.money;
    };
    const parent = { experiment: first.name, run: source.id, step: 1 };
    const branch = { ...exampleSpec('digits-baseline-0.b1'), parent };
    first.addBranch({ v: 1, mlab: '0.1.0', actor: 'person', run: branch, created: 1 });
    await continued(first, branch, parent);
    const experiment = ExperimentName.parse('forks');
    const [spec = exampleSpec()] = examplePlan().runs;
    const forked = { ...spec, experiment, parent };
    const forks = createExperiment(join(folder, 'forks'), {
      ...examplePlan(),
      name: experiment,
      runs: [forked],
    });
    const both = await continued(forks, forked, parent);
    expect(both).toBeGreaterThan(0);
    const own = JSON.parse((await make(['first/digits-baseline-0'], { format: 'json' })).text).runs[0].money;
    const { text, json } = await make(['first', 'forks']);
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      `, ${dollars(own + 0.5)} in all, without the ${dollars(both)} that forks share with the runs they began from, plus ${dollars(0.5)} in branches that people began. `,
    );
    expect(json).toMatchObject({ shared: { money: both }, branches: { money: 0.5 } });
    // What is not added up can't be counted twice.
    const { tracePath } = forks.runFolder(forked.id);
    writeFileSync(tracePath, `${readFileSync(tracePath, 'utf8').split('\n')[0]}\n`);
    const cut = await make(['first', 'forks']);
    expect(cut.text.replaceAll(/\s+/g, ' ')).toContain(`, ${dollars(own)} in all, plus ${dollars(0.5)} in`);
    appendFileSync(forks.runFolder(forked.id).recordPath, 'broken');
    appendFileSync(first.runFolder(branch.id).recordPath, 'broken');
    const damaged = await make(['first', 'forks']);
    expect(damaged.text).toContain('Left out because their files are damaged: forks/digits-baseline-0.');
    expect(damaged.json).not.toHaveProperty('shared');
    await expect(make([`first/${branch.id}`])).rejects.toThrow('is a branch that somebody began');
    writeFileSync(join(first.folder, 'branches', `${branch.id}.json`), '{"v":1,');
    expect((await make(['first', 'forks'])).json).not.toHaveProperty('branches');
  });

  it('gives the numbers of its tables as data', async () => {
    const { json, text } = await make(['first'], { format: 'json' });
    const data = Report.parse(json);
    expect(JSON.parse(text)).toEqual(json);
    expect(data.pairs.map(({ agent, success }) => [agent, success.successes, success.runs])).toEqual([
      ['baseline', 0, 1],
      ['noop', 0, 1],
    ]);
    const { text: csv } = await make(['first'], { format: 'csv', table: ['runs'] });
    expect(csv.split('\n').map((line) => line.split(',').slice(0, 5).join())).toEqual([
      'run,task,agent,seed,outcome',
      'first/digits-baseline-0,digits,baseline,0,small improvement',
      'first/digits-noop-0,digits,noop,0,invalid',
    ]);
  });

  it('describes the differences between two agents, and between two experiments', async () => {
    const agents = await make(['first'], { compare: ['noop', 'baseline'] });
    expect(agents.text).toMatch(/baseline is compared with noop on 1 task that both have/);
    await expect(make(['first'], { compare: ['noop', 'none'] })).rejects.toThrow(/agent "none"/);
    await expect(make(['first'], { compare: ['noop'] })).rejects.toThrow(/two names/);
    const same = await make([], { compare: ['first', 'first'] });
    expect(same.text).toMatch(/first is compared with first/);
    const byFolders = await make([], { compare: [`${join(folder, 'first')}/`, 'first'] });
    expect(byFolders.text).toBe(same.text);
  });

  it('lists the agents that are compared in the direction of the comparison', async () => {
    for (const [before, after] of [
      ['noop', 'baseline'],
      ['baseline', 'noop'],
    ] as const) {
      const { json } = await make(['first'], { compare: [before, after], table: ['comparisons'] });
      expect(Report.parse(json).comparisons).toMatchObject([{ a: after, b: before }]);
    }
  });

  it('compares agents by their names alone if these are not ambiguous', async () => {
    const experiment = ExperimentName.parse('models');
    const labels = [
      ['react', 'x/one'],
      ['tools', 'x/one'],
      ['tools', 'x/two'],
    ] as const;
    const { runs: specs, ...rest } = examplePlan(['a', 'b', 'c']);
    const runs = specs.map((spec, index) => {
      const [agent, model] = labels[index] ?? labels[0];
      return { ...spec, experiment, agent, model };
    });
    createExperiment(join(folder, 'models'), { ...rest, name: experiment, runs });
    const compared = make(['models'], { compare: ['react', 'tools(x/two)'] });
    expect((await compared).text).toContain('react and tools(x/two) have no task in common');
    const ambiguous = make(['models'], { compare: ['react', 'tools'] });
    await expect(ambiguous).rejects.toThrow('"tools" stands for 2 agents.');
    await expect(ambiguous).rejects.toMatchObject({ hint: expect.stringContaining("'tools(x/one)'") });
  });

  it('accepts both names after --compare, with and without an experiment before it', async () => {
    const typed = (...words: string[]) => mlab(['report', ...words, '--dir', folder], { folder });
    expect((await typed('first', '--compare', 'noop', 'baseline')).out).toContain(
      'baseline is compared with noop',
    );
    expect((await typed('--compare', 'first', 'first')).out).toContain('first is compared with first');
  });

  it.each(['a damaged record', 'a file in the place of its folder'])(
    'names the runs that it cannot read, and counts the others: %s',
    async (damage) => {
      const [, broken] = first.plan.runs;
      const run = join(folder, 'first/runs', broken?.id ?? '');
      if (damage === 'a damaged record') appendFileSync(join(run, 'run.json'), 'broken');
      else {
        rmSync(run, { recursive: true });
        writeFileSync(run, '');
      }
      const { text, json, exitCode } = await make(['first']);
      expect(exitCode).toBe(1);
      expect(text).toContain('Left out because their files are damaged: first/digits-noop-0.');
      expect(json).toMatchObject({ unreadable: ['first/digits-noop-0'] });
      expect(said.join('\n')).toMatch(/first\/digits-noop-0 can't be read/);
      expect(text).toContain('1 run of 1 agent');
    },
  );

  it('says of runs and experiments that a newer mlab wrote them, and counts the others', async () => {
    const [, later] = first.plan.runs;
    const { recordPath } = first.runFolder(later?.id ?? '');
    writeFileSync(recordPath, JSON.stringify({ ...first.runFolder(later?.id ?? '').readRecord(), v: 99 }));
    mkdirSync(join(folder, 'newer'));
    writeFileSync(join(folder, 'newer/plan.json'), JSON.stringify({ ...first.plan, name: 'newer', v: 99 }));
    const { text, json } = await make(['newer', 'first']);
    expect(text).toContain('Left out because a newer mlab wrote them: first/digits-noop-0.');
    expect(text).not.toContain('damaged');
    expect(json).toMatchObject({ unreadable: ['first/digits-noop-0'], runs: [{ experiment: 'first' }] });
    expect(said.join('\n')).toMatch(
      /^newer is left out: .*plan\.json was written by a newer mlab: it has version 99/m,
    );
    await expect(make(['newer'])).rejects.toMatchObject({ code: 'future_version' });
  });

  it('refuses to choose tables for a format that always contains the whole report', async () => {
    for (const format of ['json', 'html'])
      await expect(make(['first'], { format, table: ['runs'] })).rejects.toThrow(
        `--table does not work with --format ${format}`,
      );
  });

  it('requires an experiment, and a single table if the format can contain only one', async () => {
    await expect(make([])).rejects.toThrow(/Name an experiment/);
    await expect(make(['first'], { format: 'csv', table: ['runs', 'agents'] })).rejects.toThrow(/one table/);
  });
});
