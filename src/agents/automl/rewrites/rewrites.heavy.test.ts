import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { commonLoops } from '../../../../test/fixtures/common-loops.ts';
import { estimatorScripts } from '../../../../test/fixtures/estimator-scripts.ts';
import { loopScriptEnd, loopScriptStart, vectorisableLoops } from '../../../../test/fixtures/loop-scripts.ts';
import { otherLoops } from '../../../../test/fixtures/loops-left-alone.ts';
import { scientificLoops } from '../../../../test/fixtures/scientific-loops.ts';
import { temporaryFolder } from '../../../../test/fixtures/temporary-folder.ts';
import { cacheFolder } from '../../../lib/cache-folder.ts';
import { ensurePython, loadTask, type PythonEnvironment } from '../../../tasks/index.ts';
import { rewriteLoops } from './loops/rewrite-loops.ts';
import { surroundingsOf } from './made-up-surroundings.ts';
import { rewriteScikitLearn } from './scikit-learn/rewrite-scikit-learn.ts';

/** Rewritten scripts, really run with numpy and scikit-learn. */
let python: PythonEnvironment;
beforeAll(async () => {
  // The packages are those of a task of the project; its data is not needed.
  const { requirements } = loadTask('house-price', [join(import.meta.dirname, '../../../../tasks')]);
  python = await ensurePython(requirements, { cache: cacheFolder(process.env) });
});

/** Runs scripts in one process, so that scikit-learn is imported once. */
const runner = `import contextlib, io, json, runpy, sys, warnings

warnings.simplefilter("ignore")
results = []
for path in json.load(open(sys.argv[1])):
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            runpy.run_path(path, run_name="__main__")
        error = None
    except BaseException as failure:
        error = repr(failure)
    results.append({"out": out.getvalue(), "error": error})
print(json.dumps(results))
`;
const Results = z.array(z.object({ out: z.string(), error: z.string().nullable() }));

function run(scripts: readonly string[]): z.infer<typeof Results> {
  const folder = temporaryFolder();
  const paths = scripts.map((_, place) => join(folder, `script${place}.py`));
  for (const [place, script] of scripts.entries()) writeFileSync(paths[place] ?? '', script);
  writeFileSync(join(folder, 'paths.json'), JSON.stringify(paths));
  writeFileSync(join(folder, 'runner.py'), runner);
  // Threads that wait for each other on busy cores take far longer than one.
  const printed = execFileSync(python.executable, [join(folder, 'runner.py'), join(folder, 'paths.json')], {
    ...{ env: { ...process.env, OMP_NUM_THREADS: '1' }, timeout: 500_000, maxBuffer: 2 ** 26 },
  });
  return Results.parse(JSON.parse(printed.toString()));
}

test('loops written with whole arrays give the same results', () => {
  const fast = surroundingsOf({ name: 'run time', unit: 'seconds', direction: 'minimize' }, ['numpy']);
  const all = [...vectorisableLoops, ...commonLoops, ...scientificLoops, ...otherLoops];
  const cases = all.flatMap(({ title, code }) => {
    const source = loopScriptStart + code + loopScriptEnd;
    return rewriteLoops(source, fast).map((offer) => ({ title, source, rewritten: offer.source }));
  });
  expect(cases.length).toBeGreaterThan(all.length - otherLoops.length);
  const results = run(cases.flatMap(({ source, rewritten }) => [source, rewritten]));
  const numbers = (place: number) => z.array(z.number()).parse(JSON.parse(results[place]?.out ?? ''));
  for (const [place, { title }] of cases.entries()) {
    expect({ title, error: results[2 * place + 1]?.error }).toEqual({ title, error: null });
    const [before, after] = [numbers(2 * place), numbers(2 * place + 1)];
    expect(after.length).toBe(before.length);
    const furthest = Math.max(...after.map((value, index) => Math.abs(value - (before[index] ?? 0))));
    expect({ title, isAlike: furthest < 1e-9 }).toEqual({ title, isAlike: true });
  }
});

test.each(estimatorScripts)(
  "whatever is put in an estimator's place runs and is measured: $title",
  ({ code, metric }) => {
    const offers = rewriteScikitLearn(code, surroundingsOf(metric, ['numpy', 'sklearn']));
    const results = run([code, ...offers.map(({ source }) => source)]);
    const shown = (out = '') => out.replace(/[-\d.e]+/g, '0');
    for (const [place, { error, out }] of results.entries()) {
      const name = offers[place - 1]?.name ?? 'as it was';
      expect({ name, error }).toEqual({ name, error: null });
      expect(shown(out)).toContain(
        shown(
          results[0]?.out
            .trim()
            .split('\n')
            .findLast((line) => /accuracy|mae|rmse|loss|f1/i.test(line)),
        ),
      );
    }
  },
);
