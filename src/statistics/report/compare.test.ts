import { describe, expect, it } from 'vitest';
import { accuracy, evaluation } from '../../../test/fixtures/evaluations.ts';
import { Comparison } from '../../schema/index.ts';
import { buildReport } from './build-report.ts';
import { compareRuns } from './compare.ts';

const runs = (experiment: string, agent: string, scores: readonly number[], task = 'digits') =>
  scores.map((score, seed) => evaluation({ experiment, agent, task, seed, scores: [score] }));
const bad = [0.45, 0.46, 0.47, 0.48, 0.49, 0.5, 0.51, 0.52];
const good = bad.map((score) => score + 0.3);

describe('a comparison of two sides', () => {
  it('says in numbers and words that a clear change is beyond noise', () => {
    const comparison = compareRuns(
      { name: 'before', evaluations: runs('before', 'automl', bad) },
      { name: 'after', evaluations: runs('after', 'automl', good) },
    );
    expect(Comparison.parse(JSON.parse(JSON.stringify(comparison)))).toEqual(comparison);
    expect(comparison.overall.success).toMatchObject({ value: 1, beyond_noise: true });
    expect(comparison.overall.superiority).toMatchObject({ value: 1, beyond_noise: true });
    expect(comparison.pairs[0]).toMatchObject({
      task: 'digits',
      agent: 'automl',
      success_change: { value: 1 },
    });
    expect(comparison.sentences).toContain(
      'On digits (automl), after is better than before beyond noise (p < 0.001): 8 of 8 runs succeeded, before 0 of 8.',
    );
  });

  it('says if there are too few runs for any difference to be beyond noise, and how many are needed', () => {
    const said = (count: number, tasks: readonly string[]) => {
      const side = (name: string, scores: readonly number[]) => ({
        name,
        evaluations: tasks.flatMap((task) => runs('x', 'automl', scores.slice(0, count), task)),
      });
      const { sentences, overall } = compareRuns(side('before', bad), side('after', good));
      const few = sentences.find((sentence) => sentence.startsWith('With so few runs'));
      return [few ?? null, overall.superiority?.beyond_noise];
    };
    expect(said(3, ['digits'])).toEqual([
      'With so few runs no difference can be beyond noise: it takes at least 4 on each side (--seeds).',
      false,
    ]);
    expect(said(4, ['digits'])).toEqual([null, true]);
    expect(said(2, ['digits', 'ecoli'])[0]).toContain('at least 3 on each side and task');
    expect(said(3, ['digits', 'ecoli'])).toEqual([null, true]);
  });

  it('says if no single task can be beyond noise for so many tasks, and how many runs are needed', () => {
    const ofTask = (count: number, tasks: number) => {
      const side = (name: string, scores: readonly number[]) => ({
        name,
        evaluations: Array.from({ length: tasks }, (_, task) =>
          runs('x', 'automl', scores.slice(0, count), `task-${task}`),
        ).flat(),
      });
      const { sentences } = compareRuns(side('before', bad), side('after', good));
      return sentences.filter((sentence) => sentence.startsWith('On no single task'));
    };
    // 7 comparisons · 2 of the 70 ways to divide 8 runs = 0.2; 6 runs a side: 7 · 2 / 924 = 0.015.
    expect(ofTask(4, 7)).toEqual([
      'On no single task can the difference be beyond noise with so few runs (corrected for 7 comparisons): it takes at least 6 on each side and task (--seeds).',
    ]);
    expect(ofTask(6, 7)).toEqual([]);
    // One comparison is all there is: the sentence about all differences says it.
    expect(ofTask(3, 1)).toEqual([]);
  });

  it('says that no single task can be beyond noise of 3 runs against 4', () => {
    const side = (name: string, scores: readonly number[]) => ({
      name,
      evaluations: ['digits', 'ecoli'].flatMap((task) => runs('x', 'automl', scores, task)),
    });
    const { sentences } = compareRuns(side('before', bad.slice(0, 3)), side('after', good.slice(0, 4)));
    // Each of the two orders is as clear: 2 comparisons · 2 of 35.
    expect(sentences.join(' ')).toContain('On no single task can the difference be beyond noise');
  });

  it.each([
    [1.0, 'cost $1.00, the same as one of before ($1.00)'],
    [1.004, 'cost $1.00, the same as one of before ($1.00)'],
    [1.05, 'cost $1.05, 5 % more than one of before ($1.00)'],
    [0.96, 'cost $0.9600, 96 % of one of before ($1.00)'],
    [2.5, 'cost $2.50, 2.5 times as much as one of before ($1.00)'],
    [0.00003, 'cost $0.00003, 0.003 % of one of before ($1.00)'],
  ])('says what a run for $%d costs beside one for $1', (money, sentence) => {
    const side = (name: string, money: number) => ({
      name,
      evaluations: [0, 1].map((seed) => evaluation({ experiment: name, seed, money })),
    });
    const { sentences } = compareRuns(side('before', 1), side('after', money));
    expect(sentences.join(' ')).toContain(sentence);
  });

  it('finds no change beyond noise between equal runs, and changes its signs with its sides', () => {
    const one = { name: 'one', evaluations: runs('one', 'automl', [0.5, 0.6, 0.62, 0.7]) };
    const other = { name: 'other', evaluations: runs('other', 'automl', [0.52, 0.58, 0.66, 0.68]) };
    const forth = compareRuns(one, other);
    const back = compareRuns(other, one);
    expect(forth.overall.normalised?.beyond_noise).toBe(false);
    expect(forth.overall.normalised?.value).toBeCloseTo(-(back.overall.normalised?.value ?? 9), 12);
    expect(forth.sentences.join('\n')).toContain('not beyond noise');
  });

  it('ranks runs by their scores, even if they were compared with different baselines', () => {
    const with_ = (mean: number, scores: readonly number[]) =>
      scores.map((score, seed) => {
        const reference = { ...accuracy, baseline: { ...accuracy.baseline, mean } };
        return evaluation({ seed, scores: [score], scoring_reference: reference });
      });
    const { overall } = compareRuns(
      { name: 'before', evaluations: with_(0.3, [0.6, 0.61]) },
      { name: 'after', evaluations: with_(0.5, [0.62, 0.63]) },
    );
    expect(overall.superiority?.value).toBe(1);
  });

  it('gives an interval to runs that are compared with themselves', () => {
    const same = runs('same', 'automl', [0.5, 0.6, 0.7, 0.8]);
    const { overall } = compareRuns({ name: 'a', evaluations: same }, { name: 'b', evaluations: same });
    expect(overall.normalised).toMatchObject({ value: 0, p: 1 });
    expect(overall.normalised?.interval?.low).toBeLessThan(-0.1);
    expect(overall.normalised?.interval?.high).toBeGreaterThan(0.1);
  });

  it('gives two agents the numbers of a report on both, in either direction', () => {
    const uneven = [0.5, 0.6, 0.62, 0.7];
    const side = (agent: string, change: number, more: number) => ({
      name: agent,
      evaluations: ['digits', 'ecoli'].flatMap((task, index) =>
        runs('x', agent, [...uneven, ...(index === 0 ? [] : Array(more).fill(0.66))], task).map(
          (run, seed) => ({
            ...run,
            grades: run.grades.map((grade) => ({
              ...grade,
              score: (grade.score ?? 0) + change * (seed - 1),
            })),
          }),
        ),
      ),
    });
    const [one, other] = [side('automl', 0.02, 2), side('baseline', -0.01, 1)];
    for (const [before, after] of [
      [one, other],
      [other, one],
    ] as const) {
      const { overall } = compareRuns(before, after);
      const all = [one, other].flatMap(({ evaluations }) => evaluations);
      const [first, second] = [after.name, before.name];
      const [reported] = buildReport(all, { direction: [first, second] }).comparisons;
      expect(reported).toMatchObject({ a: first, b: second });
      const { success, normalised, superiority } = overall;
      expect(normalised?.interval).not.toBeNull();
      expect({ success, normalised, superiority }).toEqual(reported?.differences);
    }
  });

  it('gives the superiority with the probability that it stands for', () => {
    const side = (name: string, scores: readonly number[]) => ({
      name,
      evaluations: runs('x', name, scores),
    });
    const text = compareRuns(side('before', [0.5, 0.7]), side('after', [0.6, 0.8])).sentences.join('\n');
    expect(text).toContain('is 75 % (ties count half; a superiority of 0.50)');
    const back = compareRuns(side('before', [0.6, 0.8]), side('after', [0.5, 0.7])).sentences.join('\n');
    expect(back).toContain('is 25 % (ties count half; a superiority of −0.50)');
  });

  it('calls no chance 0 % or 100 % that is neither', () => {
    const many = Array.from({ length: 16 }, (_, seed) => 0.5 + seed / 100);
    const side = (name: string, scores: readonly number[]) => ({
      name,
      evaluations: runs('x', name, scores),
    });
    const chances = (after: readonly number[]) =>
      [
        compareRuns(side('before', many), side('after', after)),
        compareRuns(side('before', after), side('after', many)),
      ].map(({ sentences }) => sentences.join('\n').match(/than one of \w+ is (.*?) \(/)?.[1]);
    // 255 of 256 pairs of runs.
    expect(chances([0.645, ...many.slice(1).map((score) => score + 0.3)])).toEqual([
      ...['over 99 %', 'under 1 %'],
    ]);
    expect(chances(many.map((score) => score + 0.3))).toEqual(['100 %', '0 %']);
  });

  it('combines the runs of a side if the agents differ', () => {
    const comparison = compareRuns(
      { name: 'automl', evaluations: runs('x', 'automl', bad) },
      { name: 'research', evaluations: runs('x', 'research(scripted/a)', good) },
    );
    expect(comparison.pairs.map(({ task, agent }) => [task, agent])).toEqual([['digits', null]]);
    expect(comparison.overall.success?.value).toBe(1);
    const together = 'They share no agent: on each task, all runs of a side are taken together.';
    expect(comparison.sentences[0]).toBe('research is compared with automl on 1 task that both have.');
    expect(comparison.sentences).not.toContain(together);
    const mixed = compareRuns(
      { name: 'x', evaluations: [...runs('x', 'automl', bad), ...runs('x', 'baseline', bad)] },
      { name: 'y', evaluations: runs('y', 'research(scripted/a)', good) },
    );
    expect(mixed.sentences[1]).toBe(together);
  });

  it('compares each agent with itself if another agent is on one side only', () => {
    const comparison = compareRuns(
      { name: 'a', evaluations: [...runs('a', 'automl', bad), ...runs('a', 'baseline', good)] },
      { name: 'b', evaluations: [...runs('b', 'automl', bad), evaluation({ agent: 'react', end: null })] },
    );
    expect(comparison.pairs.map(({ agent }) => agent)).toEqual(['automl']);
    expect(comparison.overall.success?.value).toBe(0);
    expect([comparison.only_a, comparison.only_b]).toEqual([['digits, baseline'], []]);
    expect(comparison.sentences[0]).toBe('b is compared with a on 1 task–agent pair that both have.');
  });

  it('shows each side with the intervals of its own report, in every digit', () => {
    const side = (name: string, scores: readonly number[]) => ({
      name,
      evaluations: scores.map((score, seed) => evaluation({ experiment: name, seed, scores: [score] })),
    });
    const uneven = Array.from({ length: 15 }, (_, index) => 0.5 + 0.4 * Math.sin(index) ** 2);
    const [a, b] = [
      side('before', uneven),
      side(
        'after',
        uneven.map((score) => score ** 1.3),
      ),
    ];
    const [cell] = compareRuns(a, b).pairs;
    const reported = [a, b].map(({ evaluations }) => buildReport(evaluations).pairs[0]);
    expect(cell?.a.improvement).toEqual(reported[0]?.improvement);
    expect(cell?.b.improvement).toEqual(reported[1]?.improvement);
    expect(cell?.a.improvement?.mean_interval).not.toBeNull();
  });

  it('leaves out tasks and agents that only one side has, and says so', () => {
    const comparison = compareRuns(
      { name: 'a', evaluations: [...runs('a', 'automl', bad), ...runs('a', 'automl', bad, 'ecoli')] },
      { name: 'b', evaluations: runs('b', 'automl', bad) },
    );
    expect(comparison.only_a).toEqual(['ecoli, automl']);
    expect(comparison.sentences).toContain('Only a has runs that count of ecoli, automl: left out.');
    const none = compareRuns({ name: 'a', evaluations: [] }, { name: 'b', evaluations: [] });
    expect(none.sentences).toEqual(['a and b have no task in common that both have graded runs of.']);
  });
});
