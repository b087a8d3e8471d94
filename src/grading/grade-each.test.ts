import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { GraderResult } from '../schema/index.ts';
import { gradeEach, type StarterGrading, unsureCaveats } from './grade-each.ts';
import { GraderFailed, type GraderRun } from './grader-process.ts';

type Kind = 'good' | 'hostile' | 'unlucky' | 'raising';

function scored(submission: string): GraderResult {
  return { submission, valid: true, score: 1, problems: [], details: {} };
}

function failedAt(submission: string | null, results: GraderResult[]): GraderRun {
  return {
    results,
    errors: [],
    failure: { submission, code: 'timed_out', message: 'the grader timed out', printed: 'log' },
  };
}

function raised(submission: string): GraderRun['errors'][number] {
  const place = 'hidden/grade.py, line 12';
  return { submission, kind: 'KeyError', place, error: "KeyError: 'secret'", traceback: 'Traceback: secret' };
}

/** A grader that always fails on some submissions, fails once on others, and raises exceptions on further ones. */
class FakeGrader {
  readonly starts: string[][] = [];
  starterStarts = 0;
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #seen = new Set<string>();
  readonly #worksOnStarter: boolean;
  /** With the default of 0, no starter counts as fast. */
  readonly limitSeconds: number;
  trusted = false;

  constructor(kinds: ReadonlyMap<string, Kind>, worksOnStarter = true, limitSeconds = 0) {
    this.#kinds = kinds;
    this.limitSeconds = limitSeconds;
    this.#worksOnStarter = worksOnStarter;
  }

  grade = async (names: readonly string[]): Promise<GraderRun> => {
    this.starts.push([...names]);
    const results: GraderResult[] = [];
    const errors: GraderRun['errors'] = [];
    for (const name of names) {
      const kind = this.#kinds.get(name);
      const first = !this.#seen.has(name);
      this.#seen.add(name);
      if (kind === 'hostile' || (kind === 'unlucky' && first)) return { ...failedAt(name, results), errors };
      if (kind === 'raising') errors.push(raised(name));
      else results.push(scored(name));
    }
    return { results, errors, failure: null };
  };

  gradeStarter = async (): Promise<StarterGrading> => {
    this.starterStarts += 1;
    if (this.#worksOnStarter) return { failure: null, scored: true };
    return { failure: { message: 'the grader timed out', printed: 'log' }, scored: false };
  };
}

describe('grading many submissions', () => {
  test('gives each its own result, whichever of the others the grader fails on', async () => {
    const kinds = fc.array(fc.constantFrom<Kind>('good', 'hostile', 'unlucky', 'raising'), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(kinds, async (list) => {
        const named = new Map(list.map((kind, index) => [`s${index}`, kind]));
        const results = await gradeEach([...named.keys()], new FakeGrader(named));
        const found = new Map(results.map((result) => [result.submission, result]));
        expect([...found.keys()].sort()).toEqual([...named.keys()].sort());
        for (const [name, kind] of named)
          expect(found.get(name)?.valid, name).toBe(kind === 'good' || kind === 'unlucky');
      }),
    );
  });

  test('starts the grader once if nothing fails, and grades a failed submission again alone', async () => {
    const kinds = new Map<string, Kind>([
      ['a', 'good'],
      ['b', 'unlucky'],
      ['c', 'good'],
    ]);
    const grader = new FakeGrader(kinds);
    await gradeEach([...kinds.keys()], grader);
    expect(grader.starts).toEqual([['a', 'b', 'c'], ['b'], ['c']]);
    const lucky = new FakeGrader(new Map([['a', 'good']]));
    await gradeEach(['a', 'x'], lucky);
    expect(lucky.starts).toEqual([['a', 'x']]);
  });

  test('does not blame a submission if the starter beside it failed twice, as on a busy machine', async () => {
    const grader = new FakeGrader(new Map());
    const failure = {
      ...{ submission: 's0', code: 'crashed' as const, message: 'the grader ended with exit code 1' },
      printed: 'round 2\nthe starter failed: the submitted code took too long, given 40 s\n',
    };
    const grade = async () => ({ results: [], errors: [], failure });
    const grading = gradeEach(['s0'], {
      grade,
      gradeStarter: grader.gradeStarter,
      limitSeconds: 0,
      trusted: false,
    });
    await expect(grading).rejects.toThrow(GraderFailed);
  });

  test('says why the grader failed on a submission, and that it was graded alone', async () => {
    const [result] = await gradeEach(['a'], new FakeGrader(new Map([['a', 'hostile']])));
    expect(result).toMatchObject({ submission: 'a', valid: false, score: null });
    expect(result?.problems).toEqual([
      { code: 'timed_out', message: expect.stringMatching(/the grader timed out .*on its own.*starter/) },
    ]);
  });

  test('does not try a submission again that took all its time if the starter is fast', async () => {
    const grader = new FakeGrader(
      new Map([
        ['a', 'hostile'],
        ['b', 'good'],
        ['c', 'hostile'],
      ]),
      true,
      600,
    );
    const results = await gradeEach(['a', 'b', 'c'], grader);
    // Earlier submissions of the same start may be the cause, so the third gets its own start.
    expect(grader.starts).toEqual([['a', 'b', 'c'], ['b', 'c'], ['c']]);
    expect(results.map(({ valid }) => valid)).toEqual([false, true, false]);
    expect(results[0]?.problems[0]?.message).toMatch(/the grader timed out .*starter took 0\.\d s/);
  });

  test('tries a submission again that crashes the grader, however fast the starter is', async () => {
    const crash = { submission: 'a', code: 'crashed', message: 'the grader crashed', printed: '' } as const;
    const runs: GraderRun[] = [
      { results: [], errors: [], failure: crash },
      { results: [scored('a')], errors: [], failure: null },
    ];
    const grader = new FakeGrader(new Map(), true, 600);
    grader.grade = async () => runs.shift() ?? failedAt('a', []);
    expect(await gradeEach(['a'], grader)).toEqual([scored('a')]);
  });

  test('is an infrastructure failure if the grader fails on the starter too, or before any submission', async () => {
    const grader = new FakeGrader(new Map([['a', 'hostile']]), false);
    await expect(gradeEach(['a'], grader)).rejects.toThrow(GraderFailed);
    const dead = { ...grader, grade: async () => failedAt(null, []) };
    await expect(gradeEach(['a'], dead)).rejects.toThrow('the grader timed out:\nlog');
  });

  test('attributes an exception to the submission if the starter causes none, and shows its message to no agent', async () => {
    const kinds = new Map<string, Kind>([
      ['a', 'raising'],
      ['b', 'good'],
      ['c', 'raising'],
    ]);
    const grader = new FakeGrader(kinds);
    const results = await gradeEach([...kinds.keys()], grader);
    expect(results.map(({ valid }) => valid).sort()).toEqual([false, false, true]);
    expect([grader.starts.length, grader.starterStarts]).toEqual([1, 1]);
    const result = results.find(({ submission }) => submission === 'a');
    expect(result?.problems).toEqual([
      {
        code: 'crashed',
        message:
          'the grader failed on this submission: KeyError in hidden/grade.py, line 12 (it does not fail on the starter)',
      },
    ]);
    expect(result?.details).toEqual({ grader_error: 'Traceback: secret' });
  });

  test('is an infrastructure failure if the starter causes an exception, too', async () => {
    const grader = new FakeGrader(new Map([['a', 'raising']]), false);
    const failure = await gradeEach(['a'], grader).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(GraderFailed);
    expect(String(failure)).toContain("hidden/grade.py, line 12: KeyError: 'secret':\nTraceback: secret");
  });

  test('does not say that the grader works on the starter if the starter got no score', async () => {
    const grader = new FakeGrader(new Map([['a', 'hostile']]));
    grader.gradeStarter = async () => ({ failure: null, scored: false });
    const [result] = await gradeEach(['a'], grader);
    expect(result?.problems[0]?.message).toMatch(
      /on its own; the grader itself may be at fault: .* no score/,
    );
    expect(result && unsureCaveats(result)).toEqual([expect.stringMatching(/^the grader may be at fault: /)]);
  });

  test.each<Kind>(['raising', 'hostile'])(
    "is an infrastructure failure if the grader fails on one of the task's own submissions: %s",
    async (kind) => {
      const grader = new FakeGrader(new Map([['a', kind]]), true, 600);
      grader.trusted = true;
      await expect(gradeEach(['a'], grader)).rejects.toThrow(GraderFailed);
      expect(grader.starterStarts).toBe(0);
    },
  );

  test('continues after a grader that ended between two submissions', async () => {
    const ends = [failedAt(null, [scored('a')]), { results: [scored('b')], errors: [], failure: null }];
    const grade = async () => ends.shift() ?? failedAt(null, []);
    const { gradeStarter } = new FakeGrader(new Map());
    const results = await gradeEach(['a', 'b'], { grade, gradeStarter, limitSeconds: 0, trusted: false });
    expect(results.map(({ submission }) => submission)).toEqual(['a', 'b']);
  });
});
