import { appendFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { exampleEvaluation } from '../../test/fixtures/example-evaluation.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { EvaluationIndex, indexName } from './evaluation-index.ts';

let place: string;
let run: string;
let made = 0;

beforeEach(() => {
  place = temporaryFolder();
  run = join(place, 'first/runs/digits-baseline-0');
  mkdirSync(run, { recursive: true });
  writeFileSync(join(run, 'trace.jsonl'), 'one\n');
  made = 0;
});

/** How many times the run was read, and the result. */
function evaluate() {
  using index = new EvaluationIndex(place);
  return index.evaluation(run, () => {
    made += 1;
    return exampleEvaluation({ steps: made });
  });
}

test('a run is read once, and again when its files change', () => {
  expect([evaluate().steps, evaluate().steps]).toEqual([1, 1]);
  appendFileSync(join(run, 'trace.jsonl'), 'two\n');
  expect([evaluate().steps, evaluate().steps]).toEqual([2, 2]);
  writeFileSync(join(run, 'grades.jsonl'), '{}\n');
  expect([evaluate().steps, evaluate().steps]).toEqual([3, 3]);
});

test('a stored evaluation is returned unchanged', () => {
  expect(evaluate()).toEqual(exampleEvaluation({ steps: 1 }));
  expect(evaluate()).toEqual(exampleEvaluation({ steps: 1 }));
});

test('a run whose files change while it is read is read again', () => {
  using index = new EvaluationIndex(place);
  const growing = () => {
    appendFileSync(join(run, 'trace.jsonl'), 'more\n');
    return exampleEvaluation();
  };
  index.evaluation(run, growing);
  expect(index.evaluation(run, () => exampleEvaluation({ steps: 7 })).steps).toBe(7);
});

test('an unfinished run is read every time, because no file shows that its process was killed', () => {
  using index = new EvaluationIndex(place);
  index.evaluation(run, () => exampleEvaluation({ status: 'running' }));
  expect(index.evaluation(run, () => exampleEvaluation({ status: 'interrupted' })).status).toBe(
    'interrupted',
  );
});

test('a run that has not begun is read every time, because a new plan may give its id to another one', () => {
  using index = new EvaluationIndex(place);
  index.evaluation(run, () => exampleEvaluation({ status: 'pending', agent: 'before' }));
  expect(index.evaluation(run, () => exampleEvaluation({ status: 'pending', agent: 'now' })).agent).toBe(
    'now',
  );
});

test('an index that is not a database, or has invalid contents, is made again', () => {
  writeFileSync(
    join(place, indexName),
    'no database at all, but long enough to be taken for one'.repeat(100),
  );
  expect([evaluate().steps, evaluate().steps]).toEqual([1, 1]);
});

test('an index in a missing folder is in memory', () => {
  using index = new EvaluationIndex(join(place, 'nowhere'));
  expect(index.evaluation(run, () => exampleEvaluation()).steps).toBe(2);
  expect(existsSync(join(place, 'nowhere'))).toBe(false);
});

test('two readers at once share one index', () => {
  using one = new EvaluationIndex(place);
  using other = new EvaluationIndex(place);
  expect(one.evaluation(run, () => exampleEvaluation({ steps: 1 })).steps).toBe(1);
  expect(other.evaluation(run, () => exampleEvaluation({ steps: 9 })).steps).toBe(1);
  expect(readdirSync(place).filter((name) => name.startsWith(indexName)).length).toBeGreaterThan(0);
});
