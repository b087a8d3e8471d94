import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeExampleRun } from '../../test/fixtures/store/example-run.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { transcriptOf } from '../../test/fixtures/transcript.ts';
import { hostileTexts } from '../../test/fixtures/viewer-agents.ts';
import { readTranscript } from './read-transcript.ts';
import { stepSummaries } from './step-summaries.ts';

test('steps are summarised by what they changed in files and what they printed', async () => {
  const { run } = await makeExampleRun(temporaryFolder());
  expect(stepSummaries(run.objects, readTranscript(run, []))).toEqual([
    { step: 1, text: 'train.py: lr 0.1→0.01' },
    { step: 2, text: 'train.py: epoch 1: accuracy 0.93' },
  ]);
});

test('a file that cannot be read any more is only named', async () => {
  const { run } = await makeExampleRun(temporaryFolder());
  const transcript = readTranscript(run, []);
  rmSync(join(run.objects.folder), { recursive: true });
  expect(stepSummaries(run.objects, transcript)[0]).toEqual({ step: 1, text: 'train.py: changed' });
});

test('whatever an agent wrote, a summary is one short line of plain characters', async () => {
  const { run } = await makeExampleRun(temporaryFolder());
  const texts = [...hostileTexts, 'x'.repeat(1_000_000), `\n${'é\n'.repeat(1000)}`];
  const steps = texts.flatMap((text) => [
    { action: 'Final Answer', args: { final_answer: text } },
    { action: 'Execute Script', args: { script_name: text }, observation: text, exitCode: 0 },
    { action: text, args: { [text]: text, calls: [{ name: text, input: text }] } },
  ]);
  const summaries = stepSummaries(run.objects, transcriptOf(steps));
  expect(summaries).toHaveLength(steps.length);
  for (const { text } of summaries) {
    expect(text.length).toBeLessThanOrEqual(160);
    expect(text).toMatch(/^[^\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]*$/);
    expect(text.isWellFormed()).toBe(true);
  }
});
