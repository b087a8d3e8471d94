import { expect, test } from 'vitest';
import { makeExampleRun } from '../../../test/fixtures/store/example-run.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { finalWork } from './final-work.ts';

test('a long command of options that nearly runs inline code is judged at once', async () => {
  const { run, snapshot } = await makeExampleRun(temporaryFolder());
  const ways = (command: string) => {
    const step = {
      ...{ step: 1, action: 'Run Command', args: { command }, changed: ['submission.csv'], changedCount: 1 },
      ...{ wroteSubmission: true, before: snapshot, snapshot },
    };
    const end = { snapshot, writtenAt: null, submissionFiles: ['submission.csv'], entry: 'train.py' };
    return finalWork(run, { steps: [step], ...end })
      .ways.flat()
      .map(({ command }) => command);
  };
  const long = '-sh '.repeat(250_000);
  expect(ways(long)).not.toEqual(['python train.py']);
  expect(ways(`${long}sh -x -c true`)).toEqual(['python train.py']);
});
