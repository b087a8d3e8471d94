import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { GraderResult } from '../schema/index.ts';
import { gradeEach } from './grade-each.ts';
import { GraderFailed, type GraderRun } from './grader-process.ts';

type Kind = 'good' | 'hostile' | 'unlucky';

function scored(submission: string): GraderResult {
  return { submission, valid: true, score: 1, problems: [], details: {} };
}

function failedAt(submission: string | null, results: GraderResult[]): GraderRun {
  return {
    results,
    failure: { submission, code: 'timed_out', message: 'the grader timed out', printed: 'log' },
  };
}

/** A grader that fails on a hostile submission always, on an unlucky one at its first sight. */
class FakeGrader {
  readonly starts: string[][] = [];
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #seen = new Set<string>();
  readonly #worksOnStarter: boolean;
  /** No starter is quick beside none. */
  readonly limitSeconds: number;

  constructor(kinds: ReadonlyMap<string, Kind>, worksOnStarter = true, limitSeconds = 0) {
    this.#kinds = kinds;
    this.limitSeconds = limitSeconds;
    this.#worksOnStarter = worksOnStarter;
  }

  grade = async (names: readonly string[]): Promise<GraderRun> => {
    this.starts.push([...names]);
    const results: GraderResult[] = [];
    for (const name of names) {
      const kind = this.#kinds.get(name);
      const first = !this.#seen.has(name);
      this.#seen.add(name);
      if (kind === 'hostile' || (kind === 'unlucky' && first)) return failedAt(name, results);
      results.push(scored(name));
    }
    return { results, failure: null };
  };

  gradeStarter = async (): Promise<GraderRun> =>
    this.#worksOnStarter ? { results: [scored('starter')], failure: null } : failedAt('starter', []);
}

describe('grading many submissions', () => {
  test('gives each its own result, whichever others the grader fails on', async () => {
    const kinds = fc.array(fc.constantFrom<Kind>('good', 'hostile', 'unlucky'), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(kinds, async (list) => {
        const named = new Map(list.map((kind, index) => [`s${index}`, kind]));
        const results = await gradeEach([...named.keys()], new FakeGrader(named));
        const found = new Map(results.map((result) => [result.submission, result]));
        expect([...found.keys()].sort()).toEqual([...named.keys()].sort());
        for (const [name, kind] of named) expect(found.get(name)?.valid, name).toBe(kind !== 'hostile');
      }),
    );
  });

  test('starts the grader once where nothing fails, and grades what it failed on alone', async () => {
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

  test('says of a submission why the grader failed on it, and that it was alone', async () => {
    const [result] = await gradeEach(['a'], new FakeGrader(new Map([['a', 'hostile']])));
    expect(result).toMatchObject({ submission: 'a', valid: false, score: null });
    expect(result?.problems).toEqual([
      { code: 'timed_out', message: expect.stringMatching(/the grader timed out .*on its own.*starter/) },
    ]);
  });

  test('costs a submission that takes all its time no second time where the starter is quick', async () => {
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
    // What came before it in the same start may be why, so the third has a start of its own.
    expect(grader.starts).toEqual([['a', 'b', 'c'], ['b', 'c'], ['c']]);
    expect(results.map(({ valid }) => valid)).toEqual([false, true, false]);
    expect(results[0]?.problems[0]?.message).toMatch(/the grader timed out .*starter took 0\.\d s/);
  });

  test('tries a submission again that crashes the grader, however quick the starter is', async () => {
    const crash = { submission: 'a', code: 'crashed', message: 'the grader crashed', printed: '' } as const;
    const runs: GraderRun[] = [
      { results: [], failure: crash },
      { results: [scored('a')], failure: null },
    ];
    const grader = new FakeGrader(new Map(), true, 600);
    grader.grade = async () => runs.shift() ?? failedAt('a', []);
    expect(await gradeEach(['a'], grader)).toEqual([scored('a')]);
  });

  test('is an infrastructure failure where the grader fails on the starter too, or before any submission', async () => {
    const grader = new FakeGrader(new Map([['a', 'hostile']]), false);
    await expect(gradeEach(['a'], grader)).rejects.toThrow(GraderFailed);
    const dead = { ...grader, grade: async () => failedAt(null, []) };
    await expect(gradeEach(['a'], dead)).rejects.toThrow('the grader timed out:\nlog');
  });

  test('continues after a grader that ended between two submissions', async () => {
    const ends = [failedAt(null, [scored('a')]), { results: [scored('b')], failure: null }];
    const grade = async () => ends.shift() ?? failedAt(null, []);
    const results = await gradeEach(['a', 'b'], { grade, gradeStarter: grade, limitSeconds: 0 });
    expect(results.map(({ submission }) => submission)).toEqual(['a', 'b']);
  });
});
