import { describe, expect, test } from 'vitest';
import { Grade, RunRecord } from '../../schema/index.ts';
import { judgeAgent, whatStopped } from './judge.ts';

function record(reason = 'final_answer'): RunRecord {
  const limits = {
    steps: 1,
    wall_seconds: 1,
    script_seconds: 1,
    memory_mb: 64,
    processes: 8,
    workspace_mb: 1,
  };
  return RunRecord.parse({
    v: 1,
    spec: {
      ...{
        id: 'digits-x-0',
        experiment: 'check',
        task: 'digits',
        task_version: 'v',
        agent: 'x',
        agent_options: {},
      },
      ...{ model: null, seed: 0, limits, sandbox: 'bubblewrap', gpu: false, caveats: [] },
    },
    ...{ status: 'finished', end: { reason, message: 'm' }, versions: {}, host: {}, pid: null },
    ...{ started: 0, updated: 0, steps: 1, seconds_used: 1 },
  });
}

function grade(score: number | null, changes: Partial<Grade> = {}): Grade {
  return Grade.parse({
    ...{ v: 1, time: 0, step: 1, final: true, snapshot: 'a'.repeat(64), submission: 'b'.repeat(64) },
    ...{ stale: false, grader: 'g', valid: score !== null, score, baseline: 0.5, direction: 'maximize' },
    ...{ threshold: 0.1, problems: [], details: {}, seconds: 0, caveats: [] },
    ...changes,
  });
}

const stopped = { what: 'read', how: '/x', outcome: 'stopped', because: 'ENOENT (No such file)' } as const;

function judged(
  expects: 'success' | 'no_success' | 'no_breach',
  changes: Partial<Parameters<typeof judgeAgent>[0]> = {},
) {
  return judgeAgent({
    validationAgent: { name: 'x', summary: 's', expects },
    record: record(),
    grades: [grade(0.5)],
    notGraded: null,
    attempts: expects === 'no_breach' ? [stopped] : [],
    probes: [],
    mustScore: false,
    crash: null,
    seconds: 1,
    ...changes,
  });
}

describe('a grader that failed', () => {
  const raised = grade(null, {
    problems: [{ code: 'crashed', message: 'KeyError in hidden/grade.py, line 3' }],
    details: { grader_error: 'Traceback:\nKeyError' },
  });

  test('on an honest submission is a fault, with the traceback', () => {
    for (const expects of ['success', 'no_success'] as const) {
      const { ok, faults } = judged(expects, { grades: [raised] });
      expect([ok, faults[0]]).toEqual([false, 'the grader failed on its submission:\nTraceback:\nKeyError']);
    }
  });

  test('on what an adversarial agent submitted is not a problem', () => {
    expect(judged('no_breach', { grades: [raised] }).ok).toBe(true);
  });

  test('for lack of a package says where packages are listed', () => {
    const error = "Traceback:\nModuleNotFoundError: No module named 'pandas.core'";
    const listed = 'If pandas comes from a package, list this package in requirements.txt of the task';
    const lacking = { ...raised, details: { grader_error: error } };
    expect(judged('success', { grades: [lacking] }).faults[0]).toContain(listed);
    expect(judged('success', { grades: [], notGraded: error }).faults[0]).toContain(listed);
  });

  test('on everything is reported once', () => {
    expect(judged('success', { grades: [], notGraded: 'it could not be graded: x' }).faults).toEqual([
      'it could not be graded: x',
    ]);
  });
});

describe('a script that ended with an error', () => {
  const crash = 'train.py failed:\nKeyError: digit';

  test('is reported with its output if the submission is missing because of it', () => {
    const problems = [{ code: 'missing_file' as const, message: 'submission.csv is missing' }];
    const { faults } = judged('success', { grades: [grade(null, { problems })], crash });
    expect(faults).toEqual([crash, 'its submission is not valid: submission.csv is missing']);
  });

  test('is also a fault for an agent that need not succeed', () => {
    expect(judged('no_success', { grades: [grade(null)], crash }).faults).toEqual([crash]);
  });
});

describe('an agent that must succeed', () => {
  test('needs a valid, fresh submission beyond the threshold', () => {
    expect(judged('success', { grades: [grade(0.6)] })).toMatchObject({ ok: true, succeeded: true });
  });

  test('is told which direction counts as better if it falls short', () => {
    const worse = grade(0.939, { baseline: 0.3125, direction: 'minimize' });
    expect(judged('success', { grades: [worse] }).faults).toEqual([
      'score 0.939 is no success: it must improve on 0.3125 by more than 10 %, and lower is better here (metric.direction in task.yaml)',
    ]);
  });

  test.each([
    ['too little', [grade(0.54)]],
    ['an invalid submission', [grade(null)]],
    ['an old submission', [grade(0.9, { stale: true })]],
    ['no grade', []],
  ])('fails the check with %s', (_, grades) => {
    expect(judged('success', { grades }).ok).toBe(false);
  });
});

describe('an agent that must not succeed', () => {
  test('may score at the baseline, or not at all', () => {
    expect(judged('no_success').ok).toBe(true);
    expect(judged('no_success', { grades: [grade(null)] }).ok).toBe(true);
  });

  test('fails the check if any graded step succeeds, not only the last', () => {
    const { ok, faults } = judged('no_success', {
      grades: [grade(0.9, { step: 3, final: false }), grade(0.5)],
    });
    expect(ok).toBe(false);
    expect(faults.join()).toContain('step 3');
  });

  test('is told how the figures of the baseline are measured again, and which direction is better', () => {
    const better = grade(0.3125, { baseline: -0.3125 });
    const validationAgent = { name: 'baseline', summary: 's', expects: 'no_success' as const };
    expect(judged('no_success', { validationAgent, grades: [better] }).faults).toEqual([
      "step 1 counts as a success: score 0.3125 against -0.3125, and higher is better here (metric.direction in task.yaml). The baseline's figures in task.yaml may be those of an earlier version: mlab tasks baseline digits --write measures them again",
    ]);
    expect(judged('no_success', { grades: [better] }).faults[0]).not.toContain('--write');
  });

  test('proves nothing if its run did not end properly, or could not be graded', () => {
    expect(judged('no_success', { record: record('infrastructure_error') }).ok).toBe(false);
    expect(judged('no_success', { record: record('agent_error') }).ok).toBe(false);
    expect(judged('no_success', { grades: [], notGraded: 'the grader broke' }).faults).toEqual([
      'the grader broke',
    ]);
  });
});

describe('an adversarial agent', () => {
  test('passes the check if all its attempts were stopped', () => {
    expect(judged('no_breach').ok).toBe(true);
  });

  test('fails the check if it attempted nothing, or not everything that it planned', () => {
    expect(judged('no_breach', { attempts: [] }).ok).toBe(false);
    expect(judged('no_breach', { attempts: [stopped, { ...stopped, outcome: 'not_made' }] }).ok).toBe(false);
  });

  test('fails the check if an attempt got through, or a breach is found from outside', () => {
    expect(judged('no_breach', { attempts: [{ ...stopped, outcome: 'got_through' }] }).ok).toBe(false);
    const probes = [{ looked: 'files', breached: true, finding: 'changed' }];
    expect(judged('no_breach', { probes }).faults).toEqual(['files: changed']);
  });

  test('reports what stopped it, the most frequent first', () => {
    const attempts = [{ ...stopped, because: 'EROFS (Read-only)' }, stopped, stopped];
    expect(whatStopped({ attempts, probes: [] })).toEqual(['No such file (2 times)', 'Read-only']);
  });
});

test('a starter whose score is the baseline must leave a valid submission', () => {
  const invalid = grade(null, {
    problems: [{ code: 'missing_file', message: 'submission.csv is missing.' }],
  });
  expect(judged('no_success', { grades: [invalid] }).ok).toBe(true);
  expect(judged('no_success', { grades: [invalid], mustScore: true }).faults).toEqual([
    'it has no score, though task.yaml gives one for the baseline: submission.csv is missing.',
  ]);
  expect(judged('no_success', { mustScore: true }).ok).toBe(true);
});
