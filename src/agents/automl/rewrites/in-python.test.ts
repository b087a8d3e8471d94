import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { briefOf, FakeEnvironment } from '../../../../test/fakes/fake-environment.ts';
import { slowScripts } from '../../../../test/fixtures/slow-scripts.ts';
import { temporaryFolder } from '../../../../test/fixtures/temporary-folder.ts';
import { Workspace } from '../../common/workspace.ts';
import { fasterFunctions, offersFromPython, type PythonRewriter } from './in-python.ts';

const twoFiles =
  'from model import f\nfor i in range(3):\n    print(f(i))\n\n# ---- model.py ----\ndef f(x):\n    return x';
const rewriter: PythonRewriter = {
  reason: 'Somebody may know better.',
  parts: ['offers'],
  seconds: 10,
  find: '',
};

/** Runs a real program; returns the files that it left in the workspace. */
async function ask(changes: Partial<PythonRewriter>, { steps = 50, source = twoFiles } = {}) {
  const folder = temporaryFolder();
  const program = join(folder, 'find_rewrites.py');
  const environment = new FakeEnvironment({
    task: briefOf({ entry: 'train.py' }),
    files: { 'train.py': source },
    steps,
    execute: (text) => {
      writeFileSync(program, text);
      const output = execFileSync('python3', [program], { cwd: folder, stdio: 'pipe' }).toString();
      return { output, exitCode: 0, seconds: 1 };
    },
  });
  const offers = await offersFromPython(new Workspace(environment), { ...rewriter, ...changes }, source);
  return { offers, steps: environment.taken.length, isLeft: existsSync(program) };
}

const offer = (name: string, files: string) =>
  `Offer("${name}", "Line 1.", "because.", 0.5, 0.1, ${files}, True)`;

test('a program in the sandbox offers changes to any file of the script, and removes itself', async () => {
  const twice = `{"train.py": files["train.py"].replace("3", "2"), "model.py": "def f(x):\\n    return 2 * x"}`;
  const { offers, steps, isLeft } = await ask({ find: `lambda files: iter([${offer('a', twice)}])` });
  expect(steps).toBe(2);
  expect(isLeft).toBe(false);
  expect(offers).toEqual([
    {
      ...{ name: 'a', change: 'Line 1.', reason: 'because.', weight: 0.5, effort: 0.1, isProven: true },
      source: twoFiles.replace('3', '2').replace('return x', 'return 2 * x'),
    },
  ]);
});

test('offers that do not fit into an observation, and those after a failure, are left out', async () => {
  const long = `{"train.py": "# " + "x" * 10_000}`;
  const { offers } = await ask({ find: `lambda files: iter([${offer('a', long)}, ${offer('b', long)}])` });
  expect(offers.map(({ name }) => name)).toEqual(['a']);
  const failing = await ask({
    find: `lambda files: (1 / 0 if each else ${offer('c', '{}')} for each in (0, 1))`,
  });
  expect(failing.offers.map(({ name }) => name)).toEqual(['c']);
});

test('no program is run with few steps left', async () => {
  expect(await ask({ find: 'lambda files: iter([])' }, { steps: 8 })).toMatchObject({ offers: [], steps: 0 });
});

test.each(slowScripts.filter(({ needsNumpy }) => !needsNumpy))(
  'a faster version is found of $title',
  async ({ code, expected }) => {
    // On a busy machine, less time is not enough for all steps to the fastest version.
    const { offers } = await ask({ ...fasterFunctions, seconds: 80 }, { source: code });
    expect(offers[0]?.source).toMatch(expected);
    expect(offers[0]).toMatchObject({ isProven: true });
  },
  100_000,
);

test('results are not kept of functions that read what changes, or that do something else, too', async () => {
  const source = `rates = {"a": 1.0}
log = []

def price(item):
    total = 0.0
    for place in range(40):
        total += place * rates[item]
    return total

def noted(item):
    for place in range(40):
        last = place * len(item)
    log.append(item)
    return last

total = 0.0
for day in range(400):
    total += price("a") + noted("abc")
    if day == 399:
        rates.update(a=2.0)
print(total, price("a"), len(log))
`;
  const { offers } = await ask({ ...fasterFunctions, seconds: 20 }, { source });
  expect(offers.filter(({ source: text }) => text.includes('lru_cache'))).toEqual([]);
});

test('functions whose results differ from call to call, and those that are fast already, are left unchanged', async () => {
  const source = `import random

def draw(n):
    found = []
    for _ in range(n):
        found.append(random.random())
    return found

def first(items):
    for item in items:
        if item > 0.5:
            return item

print(first(draw(200_000)))
`;
  const { offers } = await ask({ ...fasterFunctions, seconds: 20 }, { source });
  expect(offers).toEqual([]);
});
