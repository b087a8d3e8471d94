import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exampleEntry, exampleFingerprint } from '../../test/fixtures/experience.ts';
import type { ExperienceEntry, TaskFingerprint } from '../schema/index.ts';
import { chooseLessons } from './lessons.ts';
import { similarity } from './similarity.ts';
import { searchEntries } from './text-search.ts';

const anyFingerprint: fc.Arbitrary<TaskFingerprint> = fc
  .record({
    task: fc.constantFrom('houses', 'houses-small', 'flowers', 'letters'),
    family: fc.constant(''),
    category: fc.constantFrom('canonical', 'biology'),
    modality: fc.constantFrom('tabular regression', 'tabular classification', 'image classification', ''),
    metric: fc.record({
      name: fc.constantFrom('RMSE', 'MAE', 'accuracy'),
      direction: fc.constantFrom('minimize', 'maximize'),
    }),
    target: fc.option(
      fc.record({
        kind: fc.constantFrom('number', 'text', 'choice, number'),
        columns: fc.array(fc.string()),
      }),
    ),
    size: fc.option(fc.oneof(fc.constantFrom('442 rows', '1,460 rows', '0', 'many'), fc.string())),
    libraries: fc.uniqueArray(fc.constantFrom('numpy', 'sklearn', 'torch')),
    gpu: fc.boolean(),
  })
  .map((each) => ({ ...each, family: each.task.replace(/-small$/, '') }));

const anyEntry: fc.Arbitrary<ExperienceEntry> = fc
  .tuple(
    fc.nat({ max: 0xffff }),
    anyFingerprint,
    fc.constantFrom('better', 'not_better', 'unclear', 'failed'),
    fc.constantFrom('lr', 'LR', 'depth'),
    fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
    fc.constantFrom('first', 'second'),
  )
  .map(([number, fingerprint, outcome, name, units, experiment]) =>
    exampleEntry({
      id: number.toString(16).padStart(12, '0'),
      ...{ fingerprint, outcome },
      change: { kind: 'number', name, from: 1, to: number % 2 === 0 ? 2 : 0.5, text: name },
      effect: { noise_units: units, validation: null, hidden: null },
      source: { experiment, run: 'a-run-0', step: 3 },
    }),
  );

/** Each id once: entries with the same id are the same. */
const anyEntries = fc.uniqueArray(anyEntry, { selector: ({ id }) => id, maxLength: 30 });
const shuffled = anyEntries.chain((entries) =>
  fc.tuple(fc.constant(entries), fc.shuffledSubarray(entries, { minLength: entries.length })),
);

describe('the similarity of two tasks', () => {
  test('is between 0 and 1, 1 for a task and itself, and symmetric', () => {
    fc.assert(
      fc.property(anyFingerprint, anyFingerprint, (one, other) => {
        const alike = similarity(one, other);
        expect(alike).toBeGreaterThanOrEqual(0);
        expect(alike).toBeLessThanOrEqual(1);
        expect(similarity(other, one)).toBe(alike);
        expect(similarity(one, one)).toBe(1);
      }),
    );
  });

  test('depends most on modality and metric', () => {
    const images = { ...exampleFingerprint, modality: 'image classification' };
    const accuracy = { ...exampleFingerprint, metric: { name: 'accuracy', direction: 'maximize' as const } };
    const torch = { ...exampleFingerprint, libraries: ['torch'], category: 'biology', size: null };
    expect(similarity(exampleFingerprint, images)).toBeLessThan(similarity(exampleFingerprint, accuracy));
    expect(similarity(exampleFingerprint, accuracy)).toBeLessThan(similarity(exampleFingerprint, torch));
  });
});

describe('the lessons of a run', () => {
  test('are never from its own experiment, nor from its task and its variants unless requested', () => {
    fc.assert(
      fc.property(anyEntries, anyFingerprint, fc.boolean(), (entries, task, sameTask) => {
        const lessons = chooseLessons(entries, { for: task, experiment: 'first', sameTask, most: 100 });
        const families = lessons.map(({ fingerprint }) => fingerprint.task.replace(/-small$/, ''));
        expect(lessons.map(({ source }) => source.experiment)).not.toContain('first');
        if (!sameTask) expect(families).not.toContain(task.family);
      }),
    );
  });

  test('include those from the same task if requested', () => {
    const wanted = { for: exampleFingerprint, experiment: 'other', sameTask: true };
    expect(chooseLessons([exampleEntry()], wanted)).toMatchObject([{ similarity: 1 }]);
  });

  test('are the same, in the same order, whatever the order and number of equal entries', () => {
    fc.assert(
      fc.property(shuffled, anyFingerprint, ([entries, others], task) => {
        const wanted = { for: task, experiment: 'first', sameTask: false };
        const lessons = chooseLessons(entries, wanted);
        expect(chooseLessons(others, wanted)).toEqual(lessons);
        expect(chooseLessons([...others, ...entries], wanted)).toEqual(lessons);
        expect(lessons.length).toBeLessThanOrEqual(40);
      }),
    );
  });

  test('are forty at most, and at most ten of them edits, because every edit is unique', () => {
    const entries = Array.from({ length: 120 }, (_, place) => {
      const text = `change ${place}`;
      const edit = { kind: 'edit', text };
      const rewrite = { kind: 'rewrite', name: text, text };
      const id = place.toString(16).padStart(12, '0');
      return exampleEntry({ id, change: place % 2 === 0 ? edit : rewrite });
    });
    const task = { ...exampleFingerprint, task: 'houses', family: 'houses' };
    const lessons = chooseLessons(entries, { for: task, experiment: 'other', sameTask: false });
    expect(lessons).toHaveLength(40);
    expect(lessons.filter(({ change }) => change.kind === 'edit')).toHaveLength(10);
  });

  test('combine all tries of one change on one task, represented by the most informative one', () => {
    const task = { ...exampleFingerprint, task: 'houses', family: 'houses' };
    const small = exampleEntry({
      id: '000000000001',
      effect: { noise_units: 3, validation: 1, hidden: null },
    });
    const failed = exampleEntry({
      ...{ id: '000000000002', outcome: 'failed', failure: 'MemoryError' },
      effect: { noise_units: null, validation: null, hidden: null },
    });
    const lessons = chooseLessons([small, failed, exampleEntry()], {
      ...{ for: task, experiment: 'other', sameTask: false },
    });
    expect(lessons[0]?.effect).not.toHaveProperty('hidden');
    expect(lessons).toMatchObject([{ tries: 3, better: 2, failed: 1, effect: { noise_units: 12 } }]);
  });

  test('identify a rewrite and a model by their names, each separately', () => {
    const task = { ...exampleFingerprint, task: 'houses', family: 'houses' };
    const entryOf = (id: string, kind: string, text: string) =>
      exampleEntry({ id, change: { kind, name: 'torch: AdamW', text } });
    const entries = [
      entryOf('000000000001', 'rewrite', 'torch: AdamW – line 12.'),
      entryOf('000000000002', 'rewrite', 'torch: AdamW – line 90.'),
      entryOf('000000000003', 'model', 'torch: AdamW – whole.'),
    ];
    const lessons = chooseLessons(entries, { for: task, experiment: 'other', sameTask: false });
    expect(lessons.map(({ change, tries }) => [change.kind, tries])).toEqual([
      ['rewrite', 2],
      ['model', 1],
    ]);
    expect(searchEntries(entries, 'adamw rewrites 90').map(({ entry }) => entry.id)[0]).toBe('000000000002');
  });

  test('start with those of more similar tasks and better changes', () => {
    const task = { ...exampleFingerprint, task: 'houses', family: 'houses' };
    const far = { ...exampleFingerprint, task: 'flowers', family: 'flowers', modality: 'image regression' };
    const inVain = { kind: 'number', name: 'depth', from: 2, to: 4, text: 'depth' };
    const entries = [
      exampleEntry({ id: '000000000001', fingerprint: far }),
      exampleEntry({ id: '000000000002', change: inVain, outcome: 'not_better' }),
      exampleEntry({ id: '000000000003' }),
    ];
    const lessons = chooseLessons(entries, { for: task, experiment: 'other', sameTask: false });
    expect(lessons.map(({ id }) => Number(id))).toEqual([3, 1, 2]);
  });
});

describe('a search by words', () => {
  const memory = exampleEntry({
    ...{ id: '000000000001', outcome: 'failed', failure: 'CUDA out of memory' },
    change: { kind: 'edit', text: 'Use a wider network' },
  });

  test('finds words in changes, failures and tasks, and the parts of names', () => {
    const ids = (text: string) => searchEntries([memory, exampleEntry()], text).map(({ entry }) => entry.id);
    expect(ids('out of MEMORY')).toEqual([memory.id]);
    expect(ids('learning rate')).toEqual([exampleEntry().id]);
    expect(ids('diabetes')).toHaveLength(2);
    expect(ids('transformer')).toEqual([]);
    expect(ids('')).toEqual([]);
  });

  test('gives the same order whatever the order of the entries', () => {
    fc.assert(
      fc.property(
        shuffled,
        fc.constantFrom('lr better', 'image depth', 'houses'),
        ([entries, others], text) => {
          expect(searchEntries(others, text)).toEqual(searchEntries(entries, text));
        },
      ),
    );
  });
});
