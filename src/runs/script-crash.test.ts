import { expect, test } from 'vitest';
import type { RunFolder, TakenStep } from '../store/index.ts';
import { endOfOutput, scriptCrash } from './script-crash.ts';

const objects = {} as RunFolder['objects'];
const stepWith = (text: string, status: string): TakenStep =>
  ({ performed: { action: 'Execute Script' }, finished: { status, observation: { text } } }) as never;
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`);

test('the end of an output says how many lines are before it', () => {
  expect(endOfOutput(objects, stepWith(numbered(7).join('\n'), 'ok'), 5)).toBe(
    `(2 lines before)\n${numbered(7).slice(2).join('\n')}`,
  );
  expect(endOfOutput(objects, stepWith('all\n', 'ok'), 5)).toBe('all');
});

test('of a long traceback, the frames in the script and the error are shown', () => {
  const frames = numbered(64);
  const text = ['epoch 1', 'Traceback (most recent call last):', ...frames, 'ValueError: odd'].join('\n');
  const told = scriptCrash({ objects } as RunFolder, [stepWith(text, 'failed')]) ?? '';
  expect(told).toContain('Traceback (most recent call last):\nline 1\n');
  expect(told).toContain('  (26 more lines)\n');
  expect(told.endsWith('line 64\nValueError: odd')).toBe(true);
  expect(told).not.toContain('epoch 1');
  expect(scriptCrash({ objects } as RunFolder, [stepWith(text, 'ok')])).toBeNull();
});

test('of a script that lacks a package, the file that lists packages is named', () => {
  const text = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'pandas'";
  expect(scriptCrash({ objects } as RunFolder, [stepWith(text, 'failed')])).toMatch(
    /'pandas'\nIf pandas comes from a package, list this package in requirements\.txt of the task/,
  );
});
