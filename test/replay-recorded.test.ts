import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compareTurns, type DifferenceReason } from '../bench/recorded-runs/compare-turns.ts';
import { readRecordedRun } from '../bench/recorded-runs/recorded-run.ts';
import { replayRecorded } from '../bench/recorded-runs/replay-recorded.ts';
import { sharedData } from './fixtures/shared-data.ts';

const data = sharedData();
const recorded = data === null ? null : join(data, '..', 'recorded-runs');
const isThere = recorded !== null && existsSync(recorded);
const folderOf = (run: string) => join(recorded ?? '', run);

/** Intended differences; docs/benchmarks.md counts them over all runs. */
const stated: readonly DifferenceReason[] = [
  ...(['numbers_as_texts', 'escapes_kept', 'fence_kept', 'arguments_merged', 'garbled'] as const),
  ...(['no_summary', 'after_the_end', 'recording_ends'] as const),
];

describe.skipIf(!isThere)('recorded runs of the original (skipped if there are none)', () => {
  test.each([
    'gemini-pro/house-price/1',
    'gemini-pro/vectorization/1',
    'gemini-pro/spaceship-titanic/4',
    'gemini-pro/cifar10/2',
    'codellama/imdb/0',
    'codellama/babylm/1',
    'codellama/literature-review-tool/0',
  ])('%s: the research agent does what was done then, but for the stated differences', async (run) => {
    const { differences } = await replayRecorded(readRecordedRun(folderOf(run)));
    expect(differences.filter(({ reason }) => !stated.includes(reason))).toEqual([]);
  });
});

describe('the comparison with a recorded run', () => {
  const step = (name: string, args: Record<string, unknown>, observation = '') => ({
    action: { name, args },
    observation,
  });
  const turn = (...steps: ReturnType<typeof step>[]) => ({
    ...{ replies: ['one', 'two'], observationSummaries: [], stepSummaries: [], steps },
  });
  const reasonsOf = (theirs: ReturnType<typeof step>[], ours: ReturnType<typeof step>[], replies = 2) =>
    compareTurns([turn(...theirs)], [{ steps: ours.map(({ action }) => action), replies }]).differences.map(
      ({ reason }) => reason,
    );
  const read = (file_name: unknown) => step('Read File', { file_name });
  const log = (content: string) => step('Append Summary to Research Log', { content });

  test.each<[string, ReturnType<typeof step>[], ReturnType<typeof step>[], string[]]>([
    ['the same', [read('a'), log('\n\nStep 0:\nx\n')], [read('a'), log('\n\nStep 0:\nx\n')], []],
    ['a number as a text', [read('1')], [read(1)], ['numbers_as_texts']],
    ['kept escapes', [read('a\\/b\\nc')], [read('a/b\nc')], ['escapes_kept']],
    ['a kept fence', [read('a"\n}\n```')], [read('a')], ['fence_kept']],
    ['another file', [read('a')], [read('b')], ['other_arguments']],
    ['another action', [read('a')], [step('List Files', { dir_path: '.' })], ['other_action']],
    [
      'arguments that only we read',
      [log('\n\nStep 0:\nx\n')],
      [read('a'), log('\n\nStep 0:\nx\n')],
      ['unread_by_original'],
    ],
    [
      'arguments that only they read',
      [read('a'), log('\n\nStep 0:\nx\n')],
      [log('\n\nStep 0:\nx\n')],
      ['unread_by_us'],
    ],
    ['another number', [log('\n\nStep 1:\nx\n')], [log('\n\nStep 0:\nx\n')], ['step_number']],
    [
      'a log after the end',
      [step('Final Answer', {}), log('\n\nStep 0:\nx\n')].map((one, index) =>
        index === 1 ? { ...one, observation: 'The environment has shut down because …' } : one,
      ),
      [step('Final Answer', {})],
      ['after_the_end'],
    ],
  ])('recognises %s', (_, theirs, ours, reasons) => {
    expect(reasonsOf(theirs, ours)).toEqual(reasons);
  });

  test('recognises a reply that only the original rejected', () => {
    expect(reasonsOf([read('a')], [read('b')], 1)).toEqual(['rejected_by_original']);
  });
});
