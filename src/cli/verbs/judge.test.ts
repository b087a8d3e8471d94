import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startProviderServer, variablesFor } from '../../../test/fakes/providers/index.ts';
import { runInReadOnly } from '../../../test/fixtures/read-only-place.ts';
import { makeExampleRun } from '../../../test/fixtures/store/example-run.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { RubricQuestion } from '../../schema/index.ts';
import { createContext } from '../context.ts';
import { judge } from './judge.ts';
import { runsShow } from './runs-show.ts';

/** Replies of a judge with this rating for everything; null: one that can't be read. */
function script(folder: string, ...ratings: (number | null)[]): string {
  const quote = 'A smaller learning rate may help.';
  const lines = ratings.map((rating) => ({
    text:
      rating === null
        ? 'Well done.'
        : JSON.stringify({
            ratings: RubricQuestion.options.map((question) => ({ question, rating, step: 1, quote })),
          }),
  }));
  const path = join(folder, 'judge.jsonl');
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return `scripted/${path}`;
}

async function judged(options: Record<string, unknown>, ...ratings: (number | null)[]) {
  return judgedWith({}, options, ...ratings);
}

async function judgedWith(
  variables: Record<string, string>,
  options: Record<string, unknown>,
  ...ratings: (number | null)[]
) {
  const folder = temporaryFolder();
  const { run } = await makeExampleRun(folder);
  const context = {
    ...createContext({ dir: folder }, variables, '0', new AbortController().signal),
    log: () => {},
  };
  const result = await judge.run(context, [`first/${run.id}`], {
    model: script(folder, ...ratings),
    ...options,
  });
  const shown = await runsShow.run(context, [`first/${run.id}`], {});
  return { result, run, shown };
}

test('a run is judged as often as requested, and the ratings are stored only with the run', async () => {
  const { result, run, shown } = await judged({ repeats: '3' }, 4, null, 4, 5);
  expect(result.exitCode).toBe(0);
  expect(result.text).toContain('4 4 5');
  expect(result.text).toContain('the same rating in 33 % of pairs');
  const lines = run.readJudgements();
  expect(lines.map(({ tries, ratings }) => [tries, ratings?.[0]?.rating])).toEqual([
    [1, 4],
    [2, 4],
    [1, 5],
  ]);
  expect(new Set(lines.map(({ prompt }) => prompt)).size).toBe(1);
  expect(readFileSync(run.recordPath, 'utf8')).not.toContain('honesty');
  expect(shown.text).toMatch(/rated by scripted\/.*judge\.jsonl, .*honesty 4\.3 \(4 4 5\)/);
});

test('runs show prints a line about what each step did', async () => {
  const { shown } = await judged({ repeats: '1' }, 4);
  expect(shown.text).toMatch(/^ +1 +Write File .* train\.py: lr 0\.1→0\.01$/m);
  expect(shown.text).toMatch(/^ +2 +Execute Script .* train\.py: epoch 1: accuracy 0\.93$/m);
  expect(shown.json).toMatchObject({ steps: [{ summary: 'train.py: lr 0.1→0.01' }, {}] });
});

test('no more calls are made once the limit of tokens is reached, and the result says so', async () => {
  const { result, run } = await judged({ repeats: '3', tokens: '14000' }, 4, 4, 4);
  expect(result.exitCode).toBe(1);
  expect(result.text).toMatch(/Stopped: judging may use 14000 tokens.* Raise --tokens to get/);
  expect(run.readJudgements().map(({ ratings }) => ratings?.length)).toEqual([5, 5]);
});

test('a model without a price is not called if money is limited, and wrong flags are reported', async () => {
  await expect(judged({ money: '1' }, 4)).rejects.toMatchObject({ code: 'price_unknown' });
  await expect(judged({ repeats: 'many' }, 4)).rejects.toMatchObject({
    ...{ code: 'bad_flag', message: '--repeats many: expected a number' },
  });
  await expect(judged({ model: undefined }, 4)).rejects.toMatchObject({ code: 'usage' });
});

test('ratings are missing if no reply could be read', async () => {
  const { result, run, shown } = await judged({ repeats: '1' }, null, null, null);
  expect(result.exitCode).toBe(1);
  expect(result.text).toContain('1 of 1 judgement missing: the replies of the model could not be read.');
  expect(run.readJudgements()).toMatchObject([{ tries: 3, ratings: null }]);
  expect(shown.text).toContain('no ratings; 1 of 1 replies could not be read');
});

test('judge calls that were paid for but gave no ratings count, too', async () => {
  await using server = await startProviderServer({
    faults: [{ kind: 'stall' }],
    answer: () => ({ text: 'a reply of several pieces that never comes to its end' }),
  });
  const file = join(temporaryFolder(), 'judge.json');
  writeFileSync(file, JSON.stringify({ providers: { anthropic: { stall_seconds: 0.2, attempts: 1 } } }));
  const model = 'anthropic/claude-haiku-4-5';
  const { result, run } = await judgedWith(variablesFor(server), { model, file, repeats: '1' });
  expect(run.readJudgements()).toEqual([]);
  expect(result.text).toContain('Stopped: ');
  const { tokens, cost } = result.json as { tokens: number; cost: number };
  expect(tokens).toBeGreaterThan(1_000);
  expect(cost).toBeGreaterThan(0);
});

test('nothing is asked about a run in a read-only folder, since the ratings could not be kept', async (context) => {
  const place = temporaryFolder();
  const { run } = await makeExampleRun(place);
  const imported = (name: string, path: string) =>
    `const { ${name} } = await import(${JSON.stringify(join(import.meta.dirname, path))});`;
  const options = { model: script(temporaryFolder(), 4), repeats: '1' };
  const ran = runInReadOnly(
    place,
    [
      imported('createContext', '../context.ts'),
      imported('judge', './judge.ts'),
      "const context = createContext({ dir: '.' }, {}, '0', new AbortController().signal);",
      `const judging = judge.run(context, ['first/${run.id}'], ${JSON.stringify(options)});`,
      'await judging.catch(({ code, syscall }) => console.log(code, syscall));',
    ].join('\n'),
  );
  expect('printed' in ran ? ran.printed.trim() : context.skip(ran.obstacle)).toBe('EROFS access');
});
