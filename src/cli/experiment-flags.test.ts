import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mlab } from '../../test/fixtures/mlab-process.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { readExperiment } from './experiment-flags.ts';

test('--on accepts the address of a Redis, besides the names that it lists', async () => {
  const argv = ['run', '--task', 'digits', '--agent', 'noop', '--dry-run', '--on'];
  const place = { folder: temporaryFolder() };
  expect(await mlab([...argv, 'redis://queue.example:6379'], place)).toMatchObject({ code: 0, err: '' });
  const { code, err } = await mlab([...argv, 'redsi'], place);
  expect(code).toBe(2);
  expect(err).toContain('Did you mean "redis"?');
});

const faulty = `
tasks: [digits]
seeds: many
limits: { steps: -1 }
steps: 9
providers: { My Server: { base_url: "http://me:secret@host/" } }
prices: { gpt-5: {}, own/x: { input: 1, output: x, date: today } }
roles: { agent: { temperature: 5 } }
grade: some
`;

test.each([
  /line 3: seeds: expected a number; or expected a list \(seeds: how many/,
  /line 4: limits\.steps: expected at least 1, found -1 \(steps: actions/,
  /line 5: steps: unknown key; did you mean "limits\.steps"\?/,
  /line 6: providers\.My Server: not a valid name here: lower-case letters/,
  /line 7: prices\.gpt-5: not a valid name here: a provider and a model/,
  /line 7: prices\.own\/x\.output: expected a number, found "x" \(output: US dollars/,
  /line 7: prices\.own\/x\.date: expected a date such as 2026-01-31 \(date: /,
  /line 7: prices\.own\/x\.source: missing \(source: where/,
  /line 8: roles\.agent\.temperature: expected at most 2, found 5 \(temperature: sampling/,
  /line 9: grade: expected one of final, all, none, found "some"/,
])('a wrong experiment file is explained in words, with the line: %s', (expected) => {
  const path = join(temporaryFolder(), 'faulty.yaml');
  writeFileSync(path, faulty);
  const read = () => readExperiment(path, {});
  expect(read).toThrow(expected);
  expect(read).not.toThrow(/secret|Invalid|pattern/);
  expect(read).toThrow(expect.objectContaining({ hint: expect.stringContaining('experiment-file.md') }));
});

test('a value from a flag has no line in the file', () => {
  const path = join(temporaryFolder(), 'file.yaml');
  writeFileSync(path, 'tasks: [digits]\nlimits: { steps: 5 }');
  expect(() => readExperiment(path, { steps: 0 })).toThrow(
    /\n {2}limits\.steps: expected at least 1, found 0/,
  );
});
