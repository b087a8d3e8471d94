import { expect, test } from 'vitest';
import { evaluation } from '../../../test/fixtures/evaluations.ts';
import { buildReport } from '../../statistics/index.ts';
import { documentOf } from './document-of.ts';
import { terminalText } from './formats.ts';

test('a run without a valid submission is reported, also next to a failed one that left a valid submission', () => {
  const end = { reason: 'infrastructure_error', cause: null, message: '' } as const;
  const report = buildReport([evaluation({ end }), evaluation({ seed: 1, scores: [null] })]);
  const text = terminalText(documentOf(report, null, ['results']));
  expect(text).toContain('1 run without a valid submission');
});
