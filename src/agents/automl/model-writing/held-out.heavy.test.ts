import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { taskOf } from '../../../../test/fixtures/table-task.ts';
import { temporaryFolder } from '../../../../test/fixtures/temporary-folder.ts';
import { cacheFolder } from '../../../lib/cache-folder.ts';
import type { TaskBrief } from '../../../schema/index.ts';
import { ensurePython, loadTask } from '../../../tasks/index.ts';
import type { HeldOut } from '../../search/held-out-rows.ts';
import { askedTable, contractScript, readContract } from './contract.ts';
import { averagingScript, heldOutScript, readHeldOut } from './held-out.ts';

/** Withholds rows of synthetic tables. The packages are those of a task; no data of it is needed. */
const { executable: python } = await ensurePython(
  loadTask('digits', [join(import.meta.dirname, '../../../../tasks')]).requirements,
  { cache: cacheFolder(process.env) },
);

const start = `import csv, os
import numpy as np
rng = np.random.default_rng(3)
os.makedirs("data", exist_ok=True)
n = 400
x, day = rng.normal(size=n), np.arange(n) // 8

def write(path, header, *columns):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *zip(*columns)])

def split(names, columns, y, known):
    write("data/train.csv", ["id", *names, "y"], np.arange(n)[known], *(each[known] for each in columns), y[known])
    write("data/test.csv", ["id", *names], np.arange(n)[~known], *(each[~known] for each in columns))
    write("data/sample.csv", ["id", "y"], np.arange(n)[~known], np.repeat(y[:1], (~known).sum()))
`;

/** A version: \`train\` and \`test\` are its tables, \`guess\` is what it says of the test. */
const version = (body: string) => `import csv
train = list(csv.DictReader(open("data/train.csv")))
test = list(csv.DictReader(open("data/test.csv")))
assert len(list(csv.DictReader(open("data/sample.csv")))) == len(test)
${body}
with open("submission.csv", "w", newline="") as file:
    csv.writer(file).writerows([["id", "y"], *([row["id"], told] for row, told in zip(test, guess))])
print("validation", 0)
`;
const usual = version('guess = [sorted(row["y"] for row in train)[len(train) // 2]] * len(test)');

const numbers = `y = np.round(3 * x + rng.normal(0, 0.5, n), 4)\n`;
const cases = {
  numbers: {
    task: taskOf('RMSE', [{}]),
    data: `${numbers}split(["x"], [x], y, np.arange(n) % 4 > 0)`,
    better: version('guess = [3 * float(row["x"]) for row in test]'),
  },
  classes: {
    task: taskOf('accuracy', [{ type: 'text' }]),
    data: `y = np.where(x > 0.3, "high", "low")\nsplit(["x"], [x], y, np.arange(n) % 4 > 0)`,
    better: version('guess = ["high" if float(row["x"]) > 0.3 else "low" for row in test]'),
  },
  groups: {
    task: taskOf('MAE', [{}]),
    data: `${numbers}split(["x", "day"], [x, np.array([f"d{each}" for each in day])], y, day % 4 > 0)`,
    better: version('guess = [3 * float(row["x"]) for row in test]'),
  },
  'a file for each id, in folders of their own': {
    task: taskOf('RMSE', [{}]),
    data: `${numbers}split([], [], y, np.arange(n) % 4 > 0)
for row in range(n):
    folder = f"data/{'test' if row % 4 == 0 else 'train'}"
    os.makedirs(folder, exist_ok=True)
    write(f"{folder}/{row}.csv", ["x"], x[row : row + 1])`,
    better: version(
      `guess = [3 * float(open(f"data/test/{row['id']}.csv").read().split()[1]) for row in test]`,
    ),
  },
  'later rows': {
    task: taskOf('MAE', [{}]),
    data: `${numbers}split(["x", "time"], [x, np.arange(n)], y, np.arange(n) < 300)`,
    better: version('guess = [3 * float(row["x"]) for row in test]'),
  },
};

function run(folder: string, script: string): string {
  writeFileSync(join(folder, 'script.py'), script);
  const { status, stdout, stderr } = spawnSync(python, ['script.py'], { cwd: folder, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout;
}

/** A workspace with data, and a function that measures a version in it. */
function place({ task, data }: { task: TaskBrief; data: string }) {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'data'));
  run(folder, `${start}\n${data}\n`);
  const file = askedTable(task);
  if (file === null) throw new Error('no table is asked for');
  const contract = readContract(run(folder, contractScript(task, file)));
  if ('problem' in contract) throw new Error(contract.problem);
  const measure = (source: string, part = 0, other = '', members: string[] = []) => {
    writeFileSync(join(folder, 'train.py'), source);
    const compared = { part, other, members, seconds: 20 };
    return readHeldOut(run(folder, heldOutScript(contract, 'train.py', compared)));
  };
  const average = (...others: string[]) => run(folder, averagingScript(contract, others));
  return { folder, measure, average };
}

function rowsOf(folder: string, path: string): string[][] {
  const text = readFileSync(join(folder, path), 'utf8').trim();
  return text.split(/\r?\n/).map((line) => line.split(','));
}

function answersOf(found: ReturnType<typeof readHeldOut>): string {
  expect(found).not.toHaveProperty('problem');
  return (found as HeldOut).answers;
}

test.each(Object.entries(cases))('a better version gains on rows that it has not seen: %s', (_, kind) => {
  const { measure } = place(kind);
  for (const part of [0, 1]) {
    const before = answersOf(measure(usual, part));
    const found = measure(kind.better, part, before) as HeldOut;
    expect(found.gain?.gain).toBeGreaterThan(2 * (found.gain?.error ?? 0));
    const back = measure(usual, part, answersOf(found)) as HeldOut;
    expect(back.gain?.gain).toBeCloseTo(-(found.gain?.gain ?? 0), 5);
    expect((measure(kind.better, part, answersOf(found)) as HeldOut).gain).toEqual({ gain: 0, error: 0 });
  }
});

test('tables with semicolons and decimal commas stay as they are written', () => {
  const { folder, measure } = place({
    task: taskOf('RMSE', [{}]),
    data: `${numbers}split(["x"], [x], y, np.arange(n) % 4 > 0)
for name in ("train", "test"):
    text = open(f"data/{name}.csv").read().replace(",", ";").replace(".", ",")
    open(f"data/{name}.csv", "w").write(text)`,
  });
  const guess = 'guess = [row["y"].replace(",", ".") for row in train][:1] * len(test)';
  const german = (source: string) =>
    source.replaceAll(/(DictReader\(open\("data\/t\w+\.csv"\))/g, '$1, delimiter=";"');
  answersOf(measure(german(version(guess))));
  const [header, ...rows] = readFileSync(join(folder, 'held_out/data/train.csv'), 'utf8').trim().split('\n');
  expect(header).toBe('id;x;y');
  expect(rows.length).toBeGreaterThan(100);
  for (const row of rows) expect(row).toMatch(/^\d+;-?\d+,\d+(?:e-\d+)?;-?\d+,\d+$/);
});

test('rows of a table that is in a file with others are not withheld', () => {
  const { measure } = place({
    task: taskOf('RMSE', [{}]),
    data: `${numbers}split(["x"], [x], y, np.arange(n) % 4 > 0)
import json
told = {name: list(csv.DictReader(open(f"data/{name}.csv"))) for name in ("train", "test")}
json.dump(told, open("data/all.json", "w"))
os.remove("data/train.csv")`,
  });
  expect(measure(usual)).toEqual({
    problem: expect.stringContaining('all.json/train is in a file with others'),
  });
});

test('lines of JSON keep their kinds of values', () => {
  const { folder, measure } = place({
    task: taskOf('RMSE', [{}]),
    data: `${numbers}split(["x", "day"], [x, np.array([f"d{each}" for each in day])], y, np.arange(n) % 4 > 0)
import json
for name in ("train", "test"):
    rows = list(csv.DictReader(open(f"data/{name}.csv")))
    told = [{key: each if key == "day" else json.loads(each) for key, each in row.items()} for row in rows]
    told = [{"y": None, **row, "events": [[row["id"], "x"]]} for row in told]
    open(f"data/{name}.jsonl", "w").write("".join(json.dumps(row) + "\\n" for row in told))
os.remove("data/train.csv")`,
  });
  const guess = version('guess = [train[0]["y"] + 0.0] * len(test)');
  const json = guess.replaceAll(
    /list\(csv\.DictReader\(open\("data\/(train|test)\.csv"\)\)\)/g,
    '[json.loads(each) for each in open("data/$1.jsonl")]',
  );
  answersOf(measure(`import json\n${json}`));
  const rows = readFileSync(join(folder, 'held_out/data/test.jsonl'), 'utf8').trim().split('\n');
  for (const row of rows)
    expect(JSON.parse(row)).toEqual({
      id: expect.any(Number),
      x: expect.any(Number),
      y: null,
      day: expect.stringMatching(/^d\d+$/),
      events: [[JSON.parse(row).id, 'x']],
    });
});

test.each(Object.entries(cases))('the answers of withheld rows are not there: %s', (name, kind) => {
  const { folder, measure } = place(kind);
  const all = rowsOf(folder, 'data/train.csv').slice(1);
  const seen = [0, 1].map((part) => {
    answersOf(measure(usual, part));
    const known = new Set(rowsOf(folder, 'held_out/data/train.csv').map(([id]) => id));
    const asked = rowsOf(folder, 'held_out/data/test.csv');
    expect(asked[0]).not.toContain('y');
    const ids = asked.slice(1).map(([id]) => id);
    expect(ids.length).toBeGreaterThan(50);
    expect(ids.filter((id) => known.has(id))).toEqual([]);
    expect([...known, ...ids].length).toBe(all.length + 1);
    const template = rowsOf(folder, 'held_out/data/sample.csv').slice(1);
    expect(new Set(template.map(([, y]) => y)).size).toBe(1);
    const groupOf = (id: string | undefined) => all.find(([each]) => each === id)?.[2];
    if (name === 'groups') {
      const withheld = new Set(ids.map(groupOf));
      expect([...known].filter((id) => id !== 'id' && withheld.has(groupOf(id)))).toEqual([]);
    }
    if (name === 'later rows') expect(Math.min(...ids.map(Number))).toBe(300 - ids.length);
    return ids;
  });
  if (name !== 'later rows') expect(seen[0]?.filter((id) => seen[1]?.includes(id))).toEqual([]);
});

test('rows of several tables are withheld, whose numbers have commas between thousands', () => {
  const { folder, measure } = place({
    ...cases.numbers,
    data: `y = np.array([f"{each:,.1f}" for each in 5000 + 1000 * x])
split(["x"], [x], y, np.arange(n) % 4 > 0)
names, *rows = csv.reader(open("data/train.csv"))
write("data/train.csv", names, *zip(*rows[:150]))
write("data/valid.csv", names, *zip(*rows[150:]))`,
  });
  const before = answersOf(measure(version('guess = [5000] * len(test)')));
  const better = version('guess = [5000 + 1000 * float(row["x"]) for row in test]');
  expect((measure(better, 0, before) as HeldOut).gain?.gain).toBeGreaterThan(500);
  const idsIn = (name: string) => rowsOf(folder, `held_out/data/${name}.csv`).map(([id]) => id);
  const known = [...idsIn('train').slice(1), ...idsIn('valid').slice(1)];
  expect(new Set([...known, ...idsIn('test').slice(1)]).size).toBe(300);
  expect(known.length).toBeLessThan(250);
});

test.each([
  ['fails', 'raise SystemExit("no")'],
  ['never ends', 'while True: pass'],
  ['writes no submission', 'print("validation 0")'],
  ['leaves rows out', version('test = test[1:]\nguess = [0] * len(test)')],
  ['writes words for numbers', version('guess = ["high"] * len(test)')],
  ['writes no numbers', version('guess = ["nan"] * len(test)')],
  ['prints what the measuring program prints', 'print(\'HELD OUT {"answers": "eA==", "gain": null}\')'],
])('a version that %s cannot be measured', { timeout: 60_000 }, (_, source) => {
  expect(place(cases.numbers).measure(source)).toMatchObject({ problem: expect.stringMatching(/./) });
});

test('the mean of two versions that each know a part is better than each of them', () => {
  const { folder, measure, average } = place({
    ...cases.numbers,
    data: 'z = rng.normal(size=n)\ny = np.round(3 * x + 3 * z, 4)\nsplit(["x", "z"], [x, z], y, np.arange(n) % 4 > 0)',
  });
  const versions = ['x', 'z'].map((name) => version(`guess = [3 * float(row["${name}"]) for row in test]`));
  const members = versions.map((source) => answersOf(measure(source)));
  // What stands in the workspace is not run.
  const both = measure('raise SystemExit(1)', 0, members[0], members) as HeldOut;
  expect(both.gain?.gain).toBeGreaterThan(3 * (both.gain?.error ?? 0));

  const submissions = versions.map((source) => {
    run(folder, source);
    return { rows: rowsOf(folder, 'submission.csv'), told: average().trim().split(' ')[1] ?? '' };
  });
  average(submissions[0]?.told ?? '');
  const mean = rowsOf(folder, 'submission.csv');
  expect(mean[0]).toEqual(['id', 'y']);
  for (const [place, [id, y]] of mean.entries()) {
    const pair = submissions.map(({ rows }) => rows[place]);
    expect(pair.map((row) => row?.[0])).toEqual([id, id]);
    if (place > 0) expect(Number(y)).toBeCloseTo((Number(pair[0]?.[1]) + Number(pair[1]?.[1])) / 2, 5);
  }
});

test('of classes, the most frequent one counts, and the own one in a draw', () => {
  const { folder, average } = place(cases.classes);
  const ids = rowsOf(folder, 'data/test.csv')
    .slice(1)
    .map(([id]) => id);
  const told = ['high', 'high', 'low'].map((word) => {
    writeFileSync(join(folder, 'submission.csv'), `id,y\n${ids.map((id) => `${id},${word}\n`).join('')}`);
    return average().trim().split(' ')[1] ?? '';
  });
  average(told[0] ?? '');
  expect(rowsOf(folder, 'submission.csv')[1]).toEqual([ids[0], 'low']);
  average(...told.slice(0, 2));
  expect(rowsOf(folder, 'submission.csv')[1]).toEqual([ids[0], 'high']);
});
