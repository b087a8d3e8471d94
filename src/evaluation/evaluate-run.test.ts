import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exampleLesson } from '../../test/fixtures/experience.ts';
import { b2, makeBranchedRun } from '../../test/fixtures/store/branched-run.ts';
import { makeExampleRun } from '../../test/fixtures/store/example-run.ts';
import { exampleGrade, examplePlan, exampleSpec } from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { transcriptOf } from '../../test/fixtures/transcript.ts';
import { type Lesson, RunEvaluation } from '../schema/index.ts';
import { processMetrics } from '../statistics/index.ts';
import { createExperiment, recordedStates } from '../store/index.ts';
import { evaluateRun } from './evaluate-run.ts';
import { agentLabel, sourceOf } from './run-identity.ts';
import { withLessons } from './shown-lessons.ts';

test('a run is evaluated from its files alone, and the result fits its schema', async () => {
  using folder = temporaryFolder();
  const { run } = await makeExampleRun(folder.path);
  const evaluation = evaluateRun(run, exampleSpec());
  expect(RunEvaluation.parse(evaluation)).toEqual(evaluation);
  expect(evaluation).toMatchObject({
    ...{ experiment: 'first', run: 'digits-baseline-0', task: 'digits', agent: 'baseline', seed: 0 },
    ...{ status: 'finished', steps: 2, caveats: [], integrity: [] },
    end: { reason: 'final_answer', cause: null, message: '' },
    // An older grade has no figures.
    scoring_reference: {
      ...{ direction: 'maximize', threshold: 0.1, reference: null, best: null },
      baseline: { mean: 0.9, spread: null, seeds: null },
    },
    grades: [{ step: 2, final: true, score: 0.93, seconds: 10, tokens: 1240, money: 0.0015 }],
    efficiency: {
      tokens: { agent: { calls: 2, prompt: 2400, cached: 2000, completion: 80 }, tools: { calls: 0 } },
      ...{ money: 0.003, cpu_seconds: 1.31, gpu_seconds: null, peak_memory_bytes: 104_857_600 },
      seconds: { wall: 11, waiting: 4 },
    },
  });
});

test('a run whose trace lost its end, or all of it, is damaged: its figures would be too low', async () => {
  using folder = temporaryFolder();
  const { run } = await makeExampleRun(folder.path);
  const lines = readFileSync(run.tracePath, 'utf8').split(/(?<=\n)/);
  for (const left of [lines.length - 1, 3, 0]) {
    writeFileSync(run.tracePath, lines.slice(0, left).join(''));
    expect(() => evaluateRun(run, exampleSpec())).toThrow(`it holds ${left} events; run.json knows of 10`);
  }
  rmSync(run.tracePath);
  expect(() => evaluateRun(run, exampleSpec())).toThrow('is cut off');
});

test('a run whose final grade is damaged says so, until it is graded again', async () => {
  using folder = temporaryFolder();
  const { run, snapshot } = await makeExampleRun(folder.path);
  truncateSync(run.gradesPath, 100);
  expect(evaluateRun(run, exampleSpec()).caveats).toEqual(['its grade is damaged: grade it again']);
  run.appendGrade(exampleGrade(snapshot));
  expect(evaluateRun(run, exampleSpec()).caveats).toEqual([]);
});

test('a run that has not begun is pending, and has no measurements', () => {
  using folder = temporaryFolder();
  const spec = exampleSpec();
  const run = createExperiment(join(folder.path, 'first'), examplePlan()).runFolder(spec.id);
  const evaluation = evaluateRun(run, spec);
  expect(RunEvaluation.parse(evaluation)).toMatchObject({
    ...{ status: 'pending', end: null, steps: 0, scoring_reference: null, grades: [], integrity: [] },
    efficiency: { money: 0, cpu_seconds: null, seconds: { wall: 0 } },
  });
});

test('a run that the infrastructure cut off has no kind of failure, though its trace does not say so', async () => {
  using folder = temporaryFolder();
  const { run } = await makeExampleRun(folder.path);
  const errors = () => evaluateRun(run, exampleSpec()).process.errors.map(({ category }) => category);
  expect(errors()).toContain('small_or_no_improvement');
  const record = run.readRecord();
  if (record === null) throw new Error('no record');
  const end = { reason: 'infrastructure_error', cause: 'sandbox', message: '' } as const;
  run.writeRecordSync({ ...record, status: 'failed', end });
  expect(errors()).toEqual([]);
});

test('the newest grades of the newest grader count, and only the grade of the final state is final', async () => {
  using folder = temporaryFolder();
  const { run, snapshot } = await makeExampleRun(folder.path);
  const figures = {
    baseline: { mean: 0.9, spread: 0.01, seeds: 5 },
    reference: { mean: 0.97, spread: 0.002, seeds: 5 },
    best: 1,
  };
  const grader = 'b'.repeat(64);
  const grade = { ...exampleGrade(snapshot), grader, figures };
  run.appendGrade({ ...grade, step: 1, score: 0.91 });
  const [before] = recordedStates(run);
  run.appendGrade({ ...grade, ...before, final: false, valid: false, score: null });
  run.appendGrade({ ...grade, step: 2, score: 0.95 });
  run.appendGrade({ ...grade, step: 1, score: 0.92 });
  const { grades, scoring_reference } = evaluateRun(run, exampleSpec());
  expect(grades.map(({ step, final, score }) => [step, final, score])).toEqual([
    [0, false, null],
    [1, false, 0.92],
    [2, true, 0.95],
  ]);
  expect(grades[0]).toMatchObject({ seconds: 0, tokens: 0, money: 0 });
  expect(scoring_reference).toMatchObject(figures);
});

test('an agent is named with its model and options', () => {
  const options = { profile: 'paper', steps: 3 };
  expect(agentLabel({ agent: 'noop', model: null, agent_options: {} })).toBe('noop');
  expect(agentLabel({ agent: 'research', model: 'openai/gpt-5', agent_options: options })).toBe(
    'research(openai/gpt-5, profile=paper, steps=3)',
  );
  const warm = { agent: 'automl', model: null, agent_options: {}, experience: [exampleLesson()] };
  expect(agentLabel(warm)).toBe('automl(warm)');
  expect(agentLabel({ ...warm, experience: [] })).toBe('automl');
  const script = (last: string) =>
    agentLabel({
      agent: 'command',
      model: null,
      agent_options: { command: `cd .\n${'python a.py\n'.repeat(40)}${last}` },
    });
  expect(script('a')).toMatch(/^command\(command=cd \.( python a\.py){3}… [0-9a-f]{6}\)$/);
  expect(script('a')).not.toBe(script('b'));
  const command = { command: 'python /home/me/agent.py', files: '/home/me/agent.py' };
  const program = { agent: 'command', model: 'openai/gpt-5', agent_options: command };
  expect(agentLabel(program)).toBe('command(openai/gpt-5, command=python /home/me/agent.py)');
  expect(agentLabel({ ...program, agent_options: { ...command, label: 'mine' } })).toBe('mine(openai/gpt-5)');
  const sourceWith = (text: string, version: string) =>
    sourceOf({ agent_version: version, agent_options: { command: text, label: 'mine' } }).source?.hash;
  const hashes = [
    sourceWith('a 1', 'sha256:b'),
    sourceWith('a 2', 'sha256:b'),
    sourceWith('a 1', 'sha256:c'),
  ];
  expect(new Set(hashes).size).toBe(3);
});

test("numbers from a run's lessons are not its own claims", () => {
  const entries = { Reflection: 'Elsewhere this improved the RMSE to 12.' };
  const ungrounded = (lessons: readonly Lesson[]) => {
    const transcript = withLessons(transcriptOf([{ entries }]), lessons);
    return processMetrics(transcript, null).grounding.ungrounded;
  };
  expect(ungrounded([])).toBe(1);
  expect(ungrounded([exampleLesson()])).toBe(0);
});

test('a run with branches is judged by the selected one, and its cost is that of all', async () => {
  using folder = temporaryFolder();
  const { run } = await makeBranchedRun(folder.path);
  const evaluation = evaluateRun(run, exampleSpec());
  expect(evaluation.steps).toBe(6);
  expect(evaluation.grades.map(({ step, score, final }) => [step, score, final])).toEqual([[3, 0.9, true]]);
  const { tokens } = evaluation.efficiency;
  expect(tokens.agent.calls + tokens.tools.calls).toBe(1);
  expect(evaluation.branches).toMatchObject([
    { branch: 'main', origin: null, steps: 3, selected: false, grade: { step: 3, score: 0.5 } },
    { branch: 'b1', origin: { branch: 'main', step: 1 }, selected: true, grade: { score: 0.9 } },
    { branch: 'b2', steps: 1, grade: null },
  ]);
  // Every report of the run names who decided on its actions.
  expect(evaluation.caveats).toEqual(['not by its agent alone: of its steps Ada denied 1']);
});

test('a decision on a branch that was not selected is named, too: it may have led to the selection', async () => {
  using folder = temporaryFolder();
  const { run } = await makeBranchedRun(folder.path);
  {
    await using trace = run.openTrace();
    trace.append({ kind: 'action_decided', branch: b2, step: 4, verdict: 'deny', actor: 'Bob' });
  }
  expect(evaluateRun(run, exampleSpec()).caveats).toEqual([
    'not by its agent alone: of its steps Ada denied 1',
    'not by its agent alone: of its steps Bob denied 1',
  ]);
});
