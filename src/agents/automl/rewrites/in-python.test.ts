import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { briefOf, FakeEnvironment } from '../../../../test/fakes/fake-environment.ts';
import { slowDistances } from '../../../../test/fixtures/slow-distances.ts';
import { slowScripts } from '../../../../test/fixtures/slow-scripts.ts';
import { temporaryFolder } from '../../../../test/fixtures/temporary-folder.ts';
import { Workspace } from '../../common/workspace.ts';
import { filesIn } from '../script-files.ts';
import { fasterFunctions, findingScript, readOffers } from './in-python.ts';

const twoFiles =
  'from model import f\nfor i in range(3):\n    print(f(i))\n\n# ---- model.py ----\ndef f(x):\n    return x';
const entry = 'train.py';

/** Runs a real program; returns what it offers, and whether it is still there. */
function ask(source: string, find?: string, seconds = 10) {
  const folder = temporaryFolder();
  const program = join(folder, 'find_rewrites.py');
  writeFileSync(program, findingScript(filesIn(source, entry), entry, seconds, find));
  const printed = execFileSync('python3', [program], { cwd: folder, stdio: 'pipe' }).toString();
  return { offers: readOffers(printed, source, entry), isLeft: existsSync(program) };
}

const offer = (name: string, files: string) =>
  `Offer("${name}", "Line 1.", "because.", 0.5, 0.1, ${files}, True)`;

test('a program in the sandbox offers changes to any file of the script, and removes itself', () => {
  const twice = `{"train.py": files["train.py"].replace("3", "2"), "model.py": "def f(x):\\n    return 2 * x"}`;
  const { offers, isLeft } = ask(twoFiles, `lambda files: iter([${offer('a', twice)}])`);
  expect(isLeft).toBe(false);
  expect(offers).toEqual([
    {
      ...{ name: 'a', change: 'Line 1.', reason: 'because.', weight: 0.5, effort: 0.1, isProven: true },
      source: twoFiles.replace('3', '2').replace('return x', 'return 2 * x'),
    },
  ]);
});

test('offers that do not fit into an observation, and those after a failure, are left out', () => {
  const long = `{"train.py": "# " + "x" * 10_000}`;
  const { offers } = ask(twoFiles, `lambda files: iter([${offer('a', long)}, ${offer('b', long)}])`);
  expect(offers.map(({ name }) => name)).toEqual(['a']);
  const failing = ask(twoFiles, `lambda files: (1 / 0 if each else ${offer('c', '{}')} for each in (0, 1))`);
  expect(failing.offers.map(({ name }) => name)).toEqual(['c']);
});

test('no program is run with few steps left', async () => {
  const environment = new FakeEnvironment({
    task: briefOf({ entry }),
    files: {},
    steps: 8,
    execute: () => ({ output: '', exitCode: 0, seconds: 1 }),
  });
  expect(await fasterFunctions(new Workspace(environment), twoFiles)).toEqual([]);
  expect(environment.taken).toEqual([]);
});

test.each([...slowScripts, ...slowDistances])(
  'a faster version is found of $title',
  ({ code, expected }) => {
    // On a busy machine, less time is not enough for all steps to the fastest version.
    const { offers } = ask(code, 'find', 80);
    expect(offers[0]?.source).toMatch(expected);
    expect(offers[0]).toMatchObject({ isProven: true });
  },
  100_000,
);

test('results are not kept of functions that read what changes, or that do something else, too', () => {
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
  const { offers } = ask(source, 'find', 20);
  expect(offers.filter(({ source: text }) => text.includes('lru_cache'))).toEqual([]);
});

test('functions whose results differ from call to call, and those that are fast already, are left unchanged', () => {
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
  const { offers } = ask(source, 'find', 20);
  expect(offers).toEqual([]);
});
