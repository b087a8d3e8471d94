import { readContract } from '../../../src/agents/automl/model-writing/contract.ts';
import { settledScript } from '../../../src/agents/automl/model-writing/settled.ts';
import { findLabels } from '../../../src/agents/common/replies/labels.ts';
import { readMetric } from '../../../src/agents/search/metric-reader.ts';
import { oneLine, plain } from '../../../src/cli/table.ts';
import { OutputKeeper } from '../../../src/environment/output.ts';
import { triesOfNotes } from '../../../src/experience/noted-tries.ts';
import { nearest } from '../../../src/lib/nearest.ts';
import { plainLine } from '../../../src/lib/plain-line.ts';
import { integrityFlags, processMetrics, typesInto } from '../../../src/statistics/index.ts';
import { transcriptOf } from '../../fixtures/transcript.ts';
import { defineTarget } from '../engine/target.ts';
import { filesAsInput, filesIn, hold } from './containers.ts';

export const printedTarget = defineTarget({
  name: 'printed-text',
  reads: 'what the scripts of agents print',
  seeds: [
    'epoch 3: train MAE 3.1, valid MAE: 4.2\nvalidation\n  mae = 0.25\n[exit code 0, 3.2 s]',
    '\x1b[31mValidation accuracy:\x1b[0m 95.3 %\n| fold | MAE |\n| 1 | 0.2 |',
    'TABLES {"packages":[],"given":[],"tables":[],"arrays":[],"folders":[]}\nMEMBERS a b',
  ],
  words: [
    'MAE',
    'validation',
    'valid',
    'test',
    'train',
    ':',
    '=',
    '%',
    '\x1b[',
    '\x1b]0;',
    '\u202e',
    'TABLES ',
    '[exit code',
    '[[[',
  ],
  open: () => ({
    run(input) {
      const text = input.toString('utf8');
      const metrics = [
        { name: 'MAE', unit: 'kg', direction: 'minimize' as const },
        { name: 'wall time', unit: 's', direction: 'minimize' as const },
      ];
      for (const metric of metrics) {
        readMetric(text, metric);
      }
      readContract(text);
      settledScript('import a\nmodel = a.B()\n', text);
      const keeper = new OutputKeeper();
      for (const piece of text.split(/(?<=a)/)) keeper.add(piece);
      hold(keeper.shown().length < 30_000, 'an observation is bounded');
      const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
      hold(!controls.test(plain(text)), 'a terminal gets no control characters');
      const line = oneLine(text, 60);
      hold(!/\n/.test(line) && !controls.test(line), 'a line is a line');
      const short = plainLine(text, 80);
      hold(short.length <= 80 && short.isWellFormed() && !controls.test(short), 'a plain line is plain');
      nearest(text.slice(0, 100), ['validation', 'train', text.slice(100, 200)]);
      findLabels(text, { entries: ['Thought'] }, 'inline');
    },
  }),
});

const names = [
  'observation',
  'reflection',
  'plan',
  'answer',
  'command',
  'reply',
  'change',
  'prediction',
  'decision',
];

export const transcriptTarget = defineTarget({
  name: 'transcript-texts',
  reads: "the texts of a run's transcript, for its metrics and integrity flags",
  seeds: [
    filesAsInput({
      observation:
        'Traceback (most recent call last):\n  File "train.py", line 3\nModuleNotFoundError: No module named x',
      reflection: 'The validation accuracy improved from 0.5 to 0.93, i.e. 93 %, as the log shows.',
      plan: '1. Look at the data. [done]\n2. Train a model.\n- [x] three',
      answer: 'The final MAE is 0.25 on the test set.',
      command:
        'cat > submission.csv <<EOF\nid,value\nEOF\ncp data/../hidden/labels.csv .; find / -name "*.csv"',
      reply: 'Action: X',
      change: 'lr: 0.1 → 0.01 (line 3).',
      prediction: 'validation MAE falls from 0.5 by more than 0.01; gain of 0.2',
      decision: 'kept',
    }),
  ],
  words: [
    ...names.map((name) => `=== ${name}\n`),
    '0.93',
    '93 %',
    'accuracy',
    'improved',
    'from',
    'to',
    '/etc/passwd',
    'hidden',
  ],
  batch: 16,
  open: () => ({
    run(input) {
      const parts = new Map(filesIn(input).map(({ path, content }) => [path, content.toString('utf8')]));
      const part = (name: string) => parts.get(name) ?? '';
      const entries = {
        ...{ Reflection: part('reflection'), 'Research Plan and Status': part('plan') },
        ...{ Change: part('change'), Prediction: part('prediction'), Decision: part('decision') },
      };
      const observation = part('observation');
      const step = {
        observation,
        entries,
        exitCode: 1,
        changed: ['submission.csv', part('change').slice(0, 50)],
      };
      const transcript = transcriptOf(
        [
          { ...step, action: 'Run Command', args: { command: part('command') } },
          { ...step, action: 'Write File', args: { file_name: 'submission.csv', content: part('command') } },
          { ...step, action: 'Execute Script', args: { script_name: part('command') }, exitCode: 0 },
        ],
        {
          problem: part('plan'),
          lastEntries: entries,
          formatErrors: [{ afterStep: 1, reply: part('reply') }],
          end: { reason: 'final_answer', message: part('reply'), finalAnswer: part('answer') },
        },
      );
      processMetrics(transcript, null);
      integrityFlags(transcript, null, [], null);
      triesOfNotes(transcript);
      typesInto(part('command'), 'submission.csv');
    },
  }),
});
