import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { slowDistances } from '../../../../test/fixtures/slow-distances.ts';
import { slowScripts } from '../../../../test/fixtures/slow-scripts.ts';
import { slowScriptsOfNumpy } from '../../../../test/fixtures/slow-scripts-of-numpy.ts';
import { temporaryFolder } from '../../../../test/fixtures/temporary-folder.ts';
import { cacheFolder } from '../../../lib/cache-folder.ts';
import { ensurePython, loadTask, type PythonEnvironment } from '../../../tasks/index.ts';
import { findingScript, readOffers } from './in-python.ts';

/** Runs rewritten scripts with numpy and scikit-learn. */
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

// What is faster is measured: beside other work, a try may miss it, as a run's may.
test.each([...slowScripts, ...slowDistances, ...slowScriptsOfNumpy])(
  'a faster version of $title prints the same',
  { retry: 2 },
  ({ code, expected }) => {
    const folder = temporaryFolder();
    const files = new Map([['train.py', code]]);
    writeFileSync(join(folder, 'find.py'), findingScript(files, 'train.py', 40));
    const printed = execFileSync(python.executable, ['find.py'], { cwd: folder }).toString();
    const rewritten = readOffers(printed, code, 'train.py')[0]?.source ?? code;
    expect(rewritten).toMatch(expected);
    const [before, after] = run([code, rewritten]);
    expect(after).toEqual(before);
  },
);

test('results that a caller changes are not kept', () => {
  const code = `def letters(word):
    found = []
    for letter in word * 20:
        if letter not in found:
            found.append(letter)
    return found

def joined(one, other):
    mine = letters(one)
    mine.extend(letters(other))
    return len(mine)

words = [f"{7919 * i % 1000003:06d}" for i in range(60)]
print(sum(joined(one, other) for one in words for other in words))
`;
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'find.py'), findingScript(new Map([['train.py', code]]), 'train.py', 40));
  const printed = execFileSync(python.executable, ['find.py'], { cwd: folder }).toString();
  expect(printed).toContain('OFFERS');
  for (const { source } of readOffers(printed, code, 'train.py')) expect(source).not.toContain('lru_cache');
});
