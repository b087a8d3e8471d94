import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StepStatus } from '../../../src/schema/index.ts';
import { timeline } from '../test-timeline.ts';
import { actionKind } from './action-kind.ts';
import { type Alignment, alignSteps } from './align.ts';
import { nextWarning } from './steps-to-go.ts';
import { barHeight, timelineBins } from './timeline-bins.ts';

const action = fc.constantFrom('Read File', 'Edit_File', 'Execute Script', 'Final Answer', 'Reflection');
const status = fc.constantFrom<StepStatus>('ok', 'failed', 'running');
const anyTimeline = fc.array(fc.tuple(action, status, fc.nat(1000)), { maxLength: 400 }).map((steps) => {
  let seconds = 0;
  return timeline(
    steps.map(([name]) => name),
    steps.map(([, ending]) => ending),
    {
      seconds_used: steps.map(([, , duration]) => (seconds += duration)),
      warnings: steps.flatMap(([, ending], index) =>
        ending === 'failed' ? [{ step: index + 1, kind: 'failure' as const, text: '' }] : [],
      ),
    },
  );
});

describe('the timeline', () => {
  test('has every step in one bar, in order, in at most as many bars as fit', () => {
    fc.assert(
      fc.property(anyTimeline, fc.integer({ min: 1, max: 300 }), (steps, most) => {
        const bins = timelineBins(steps, most);
        expect(bins.length).toBeLessThanOrEqual(most);
        const covered = bins.flatMap(({ first, last }) =>
          Array.from({ length: last - first + 1 }, (_, index) => first + index),
        );
        expect(covered).toEqual(steps.action.map((_, index) => index + 1));
        expect(bins.reduce((sum, { warnings }) => sum + warnings, 0)).toBe(steps.warnings.length);
      }),
    );
  });

  test('shows a failure even if it shares its bar with many successful steps', () => {
    const statuses = Array.from(
      { length: 1000 },
      (_, index): StepStatus => (index === 500 ? 'timed_out' : 'ok'),
    );
    const bins = timelineBins(
      timeline(
        statuses.map(() => 'Read File'),
        statuses,
      ),
      100,
    );
    expect(bins.filter(({ bad }) => bad).map(({ first, last }) => first <= 501 && 501 <= last)).toEqual([
      true,
    ]);
  });

  test('draws longer steps higher, and the shortest visibly', () => {
    fc.assert(
      fc.property(fc.nat(10_000_000), fc.nat(10_000_000), (one, other) => {
        const longest = Math.max(one, other);
        const [low, high] = [barHeight(Math.min(one, other), longest), barHeight(longest, longest)];
        expect(low).toBeGreaterThan(0.1);
        expect(high).toBeGreaterThanOrEqual(low);
        expect(high).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe('two runs side by side', () => {
  test.each<Alignment>(['step', 'time'])('have every step of both once and in order (by %s)', (by) => {
    fc.assert(
      fc.property(anyTimeline, anyTimeline, (a, b) => {
        const rows = alignSteps(a, b, by);
        expect(rows.flatMap((row) => row.a ?? [])).toEqual(a.action.map((_, index) => index + 1));
        expect(rows.flatMap((row) => row.b ?? [])).toEqual(b.action.map((_, index) => index + 1));
        expect(rows.every((row) => row.a !== null || row.b !== null)).toBe(true);
      }),
    );
  });

  test('pair steps that ended at the same time', () => {
    const quick = timeline(['Read File', 'Edit File', 'Execute Script'], ['ok', 'ok', 'ok'], {
      seconds_used: [1, 2, 30],
    });
    const slow = timeline(['Execute Script'], ['ok'], { seconds_used: [29] });
    expect(alignSteps(quick, slow, 'time')).toEqual([
      { a: 1, b: null },
      { a: 2, b: null },
      { a: 3, b: 1 },
    ]);
  });
});

test.each([
  ['Edit Script (AI)', 'edit'],
  ['Execute_Script', 'execute'],
  ['Undo Edit Script', 'edit'],
  ['Append Summary to Research Log', 'think'],
  ['Retrieval from Research Log', 'think'],
  ['Understand File', 'read'],
  ['Validate Submission', 'finish'],
  ['<script>', 'other'],
  ['Reply', 'think'],
  ['update_plan', 'think'],
  ['bash', 'execute'],
  ['exec_command', 'execute'],
  ['apply_patch', 'edit'],
  ['str_replace', 'edit'],
  ['glob', 'read'],
  ['ls', 'read'],
])('the action %s is recognised as %s', (name, kind) => {
  expect(actionKind(name)).toBe(kind);
});

test('the next warning is searched in the given direction, and may not exist', () => {
  const warnings = [3, 3, 8].map((step) => ({ step, kind: 'failure' as const, text: '' }));
  expect(nextWarning(warnings, null, true)).toBe(3);
  expect(nextWarning(warnings, 3, true)).toBe(8);
  expect(nextWarning(warnings, 8, false)).toBe(3);
  expect(nextWarning(warnings, 8, true)).toBeNull();
});
