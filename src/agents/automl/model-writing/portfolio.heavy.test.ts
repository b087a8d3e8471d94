import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { briefOf } from '../../../../test/fakes/fake-environment.ts';
import { temporaryFolder } from '../../../../test/fixtures/temporary-folder.ts';
import { cacheFolder } from '../../../lib/cache-folder.ts';
import { TaskBrief } from '../../../schema/index.ts';
import { ensurePython, loadTask } from '../../../tasks/index.ts';
import { askedTable, contractScript, describeModel, modelScript, readContract } from './contract.ts';

/**
 * Runs the models that automl writes on synthetic data of many kinds. The packages are those of a task; no data of it
 * is needed.
 */
const tasks = join(import.meta.dirname, '../../../../tasks');
const { executable: python } = await ensurePython(loadTask('digits', [tasks]).requirements, {
  cache: cacheFolder(process.env),
});

const start = `import csv, os
import numpy as np
rng = np.random.default_rng(3)
os.makedirs("data", exist_ok=True)

def write(name, header, *columns):
    with open(name, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(zip(*columns))

def split(n, header, columns, target, known):
    """Rows with known are learnt from; the others are asked for."""
    ids = np.arange(n)
    for name, rows, more in (("train", ids[known], [target]), ("test", ids[~known], [])):
        write(f"data/{name}.csv", ["id", *header, *(["y"] if more else [])],
              rows, *(np.asarray(column)[rows] for column in columns), *(each[rows] for each in more))
    write("answers.csv", ["id", "y"], ids[~known], target[~known])
`;

interface Kind {
  metric: string;
  /** Python that writes data/ and answers.csv. */
  data: string;
  /** The score on the rows to predict must be better than this; a guess reaches `trivial`. */
  reaches: number;
  trivial: number;
  columns?: object[];
  models?: string;
  /** For all models, if 12 are too few on a slow machine that does other work, too; those that are done end earlier. */
  seconds?: number;
  prints?: RegExp;
  /** Where the environment has numpy alone. */
  isPlain?: boolean;
}

const number = { name: 'y', type: 'number' };
const text = { name: 'y', type: 'text' };

const table: Kind = {
  metric: 'RMSE',
  data: `n = 600
a, b = rng.normal(size=n), rng.uniform(0, 4, n)
c = rng.choice(["red", "green", "blue"], n)
split(n, ["a", "b", "c"], [a, b, c], 3 * a + b ** 2 + 4 * (c == "red") + rng.normal(0, 0.5, n), np.arange(n) % 3 > 0)`,
  ...{ reaches: 1, trivial: 6 },
};

const rare: Kind = {
  metric: 'balanced accuracy',
  data: `n = 1500
x = rng.normal(size=(n, 5))
y = np.where(x[:, 0] + x[:, 1] + rng.normal(0, 0.7, n) > 3, "rare", "usual")
split(n, list("abcde"), list(x.T), y, np.arange(n) % 3 > 0)`,
  ...{ columns: [text], reaches: 0.8, trivial: 0.5 },
};

const kinds: Record<string, Kind> = {
  'a table of numbers and names': { ...table, models: 'boosting, linear' },
  'a law of nature without noise': {
    metric: 'MAPE',
    data: `n = 300
m, r, v = rng.uniform(1, 50, n), rng.uniform(0.5, 9, n), rng.uniform(2, 30, n)
split(n, ["m", "r", "v"], [m, r, v], m * v ** 2 / r, np.arange(n) % 3 > 0)`,
    ...{ reaches: 0.03, trivial: 0.6, seconds: 40 },
  },
  'answers in a table of their own, in the same order and under another name': {
    metric: 'RMSE',
    data: `n = 600
a, b = rng.normal(size=n), rng.uniform(0, 4, n)
y = 3 * a + b ** 2 + rng.normal(0, 0.5, n)
write("data/x_train.csv", ["a", "b"], a[:400], b[:400])
write("data/y_train.csv", ["price"], y[:400])
write("data/test.csv", ["id", "a", "b"], range(200), a[400:], b[400:])
write("answers.csv", ["id", "y"], range(200), y[400:])`,
    ...{ reaches: 1, trivial: 5 },
  },
  'rare classes': rare,
  'a class of a single row': {
    metric: 'accuracy',
    data: `n = 600
x = rng.normal(size=(n, 4))
y = np.array(["calm", "wild"])[(x[:, 0] * x[:, 1] + x[:, 2] + rng.normal(0, 0.3, n) > 0).astype(int)]
y[1] = "odd"
split(n, list("abcd"), list(x.T), y, np.arange(n) % 3 > 0)`,
    ...{ columns: [text], reaches: 0.8, trivial: 0.52, seconds: 40 },
  },
  'a table without scikit-learn': { ...table, isPlain: true },
  'rare classes without scikit-learn': { ...rare, reaches: 0.7, isPlain: true },
  'few rows': {
    metric: 'RMSE',
    data: `n = 90
x = rng.normal(size=(n, 6))
split(n, list("abcdef"), list(x.T), x @ [3, 2, 1, 0, 0, 0] + rng.normal(0, 0.3, n), np.arange(n) % 3 > 0)`,
    ...{ reaches: 0.8, trivial: 3.5 },
  },
  'sequences of equal length': {
    metric: 'accuracy',
    data: `n = 700
s = ["".join(rng.choice(list("ACGT"), 24)) for _ in range(n)]
y = np.array([f"k{int(each[5] in 'AC') + int('TAG' in each[8:])}" for each in s])
split(n, ["letters"], [s], y, np.arange(n) % 3 > 0)`,
    ...{ columns: [text], reaches: 0.65, trivial: 0.5 },
  },
  'sequences of different lengths': {
    metric: 'RMSE',
    data: `n = 700
s = ["".join(rng.choice(list("ACDEFGHIKL"), rng.integers(8, 14))) for _ in range(n)]
worth = dict(zip("ACDEFGHIKL", rng.normal(size=10)))
y = np.array([2 * worth[each[1]] + 2 * worth[each[-2]] for each in s]) + rng.normal(0, 0.3, n)
split(n, ["letters"], [s], y, np.arange(n) % 3 > 0)`,
    ...{ reaches: 1, trivial: 2 },
  },
  'sequences in which a rare word of letters matters, wherever it is': {
    metric: 'macro F1',
    data: `n = 1200
s = ["".join(rng.choice(list("ACGT"), rng.integers(70, 90))) for _ in range(n)]
y = np.array(["other"] * n, dtype=object)
for row in range(0, n, 5):
    place = rng.integers(2, 60)
    word = list("TACGAT")
    word[rng.integers(0, 6)] = rng.choice(list("ACGT"))
    s[row], y[row] = s[row][:place] + "".join(word) + s[row][place + 6:], "found"
split(n, ["letters"], [s], y, rng.permutation(n) % 3 > 0)`,
    ...{ columns: [text], reaches: 0.735, trivial: 0.5, seconds: 40 },
  },
  'notations of many lengths': {
    metric: 'RMSE',
    data: `n = 600
s = ["".join(rng.choice(["C", "c1ccccc1", "(=O)", "N", "Cl", "O"], rng.integers(3, 12))) for _ in range(n)]
y = np.array([each.count("C") + 3 * each.count("O") - 2 * each.count("Cl") for each in s]) + rng.normal(0, 0.3, n)
split(n, ["formula"], [s], y, np.arange(n) % 3 > 0)`,
    ...{ reaches: 1.3, trivial: 5 },
  },
  'texts of two classes': {
    metric: 'F1',
    data: `n = 500
words = [f"word{i}" for i in range(300)]
y = rng.integers(0, 2, n)
good, bad = ["fine", "lovely", "bright", "clever"], ["dull", "tedious", "lame", "weak"]
s = [" ".join([*rng.choice(words, 25), *rng.choice(good if each else bad, 1)]) for each in y]
split(n, ["review"], [s], y, np.arange(n) % 3 > 0)`,
    ...{ columns: [{ name: 'y', type: 'integer', min: 0, max: 1 }], reaches: 0.85, trivial: 0.67 },
    ...{ models: 'linear', seconds: 40 },
  },
  'groups that the rows to predict do not share': {
    metric: 'RMSE',
    data: `n = 1200
day = np.arange(n) // 8
level = rng.normal(0, 3, 150)
x = rng.normal(size=n)
heat = level[day] ** 2
split(n, ["x", "level"], [x, np.round(level, 6)[day]], 2 * x + heat + 4 * rng.normal(size=150)[day], day % 3 > 0)`,
    ...{ reaches: 9, trivial: 12, prints: /rows of one level belong together/ },
  },
  'rows to predict that come later': {
    metric: 'MAE',
    data: `from datetime import date, timedelta
n = 900
days = [str(date(2020, 1, 1) + timedelta(days=i)) for i in range(n)]
weekday = np.array([date.fromisoformat(each).weekday() for each in days])
split(n, ["when", "x"], [days, rng.normal(size=n)], 10.0 * (weekday > 4) + rng.normal(0, 0.5, n), np.arange(n) < 700)`,
    ...{ reaches: 1.5, trivial: 2.8, prints: /lie beyond the others in when/ },
  },
  'one probability for each class': {
    metric: 'log loss',
    data: `n = 600
x = rng.normal(size=(n, 3))
y = np.array(["red", "green", "blue"])[np.argmax(x + rng.normal(0, 0.4, x.shape), axis=1)]
split(n, list("abc"), list(x.T), y, np.arange(n) % 3 > 0)`,
    ...{ columns: ['blue', 'green', 'red'].map((name) => ({ name })), reaches: 0.75, trivial: 1.1 },
  },
  'an archive of rows of numbers': {
    metric: 'accuracy',
    data: `n = 600
centres = rng.normal(size=(4, 40))
y = rng.integers(0, 4, n)
x = centres[y] + rng.normal(0, 1.5, (n, 40))
np.savez("data/all.npz", x_train=x[:400], y_train=y[:400], x_test=x[400:])
write("data/test.csv", ["id"], range(200))
write("answers.csv", ["id", "y"], range(200), y[400:])`,
    ...{ columns: [{ name: 'y', type: 'integer', min: 0, max: 3 }], reaches: 0.8, trivial: 0.25 },
  },
  pictures: {
    metric: 'accuracy',
    data: `n = 500
y = rng.integers(0, 3, n)
x = rng.integers(0, 90, (n, 12, 12, 3)).astype(np.uint8)
for row, kind in enumerate(y):
    place = rng.integers(2, 8)
    if kind == 0: x[row, place:place + 2] += 120
    elif kind == 1: x[row, :, place:place + 2] += 120
np.save("data/pictures.npy", x[:350]); np.save("data/kinds.npy", y[:350]); np.save("data/others.npy", x[350:])
write("data/test.csv", ["id"], range(150))
write("answers.csv", ["id", "y"], range(150), y[350:])`,
    ...{ columns: [{ name: 'y', type: 'integer', min: 0, max: 2 }], reaches: 0.7, trivial: 0.36 },
  },
  'texts in folders of their classes': {
    metric: 'accuracy',
    data: `words = [f"word{i}" for i in range(200)]
y = rng.integers(0, 2, 200)
for row, kind in enumerate(y):
    s = " ".join([*rng.choice(words, 30), *rng.choice(["goal", "match"] if kind else ["vote", "law"], 2)])
    folder = f"data/known/{'sport' if kind else 'politics'}" if row < 140 else "data/asked"
    os.makedirs(folder, exist_ok=True)
    open(f"{folder}/{row}.txt", "w").write(s)
write("data/test.csv", ["id"], range(140, 200))
write("answers.csv", ["id", "y"], range(140, 200), np.where(y[140:], "sport", "politics"))`,
    ...{ columns: [text], reaches: 0.85, trivial: 0.5, models: 'linear' },
  },
};

/** Python that scores the submission on the answers; it first says whether the ids are right. */
const measure = `import csv, sys
import numpy as np
from sklearn import metrics
answers = {row["id"]: row["y"] for row in csv.DictReader(open("answers.csv"))}
rows = list(csv.DictReader(open("submission.csv")))
print(sorted(row["id"] for row in rows) == sorted(answers))
names = [name for name in rows[0] if name != "id"]
truth = [answers[row["id"]] for row in rows]
if len(names) > 1:
    print(metrics.log_loss(truth, [[float(row[name]) for name in sorted(names)] for row in rows]))
elif sys.argv[1] in ("RMSE", "MAE", "MAPE"):
    truth, guess = np.array(truth, float), np.array([float(row["y"]) for row in rows])
    errors = {"RMSE": (guess - truth) ** 2, "MAE": abs(guess - truth), "MAPE": abs(guess - truth) / abs(truth)}
    print(errors[sys.argv[1]].mean() ** (0.5 if sys.argv[1] == "RMSE" else 1))
else:
    guess = [row["y"] for row in rows]
    f1 = lambda a, b: metrics.f1_score(a, b, pos_label="1")
    print({"F1": f1, "accuracy": metrics.accuracy_score}.get(sys.argv[1], metrics.balanced_accuracy_score)(truth, guess))
`;

function run(folder: string, interpreter: string, script: string, ...args: string[]): string {
  writeFileSync(join(folder, 'script.py'), script);
  const done = spawnSync(interpreter, ['script.py', ...args], { cwd: folder, encoding: 'utf8' });
  expect(done.stderr).toBe('');
  expect(done.status).toBe(0);
  return done.stdout;
}

function briefFor({ metric, columns = [number] }: Kind): TaskBrief {
  const direction = /accuracy|F1/.test(metric) ? 'maximize' : 'minimize';
  const id = { column: 'id', from: 'test.csv' };
  const brief = briefOf({ metric: { name: metric, unit: 'units', direction } });
  const files = [{ format: 'csv', path: 'submission.csv', id, columns }];
  return TaskBrief.parse({ ...brief, submission: { ...brief.submission, files } });
}

describe('what automl writes', () => {
  test.each(Object.entries(kinds))('learns from %s, and answers for every id', (_, kind) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'data'));
    run(folder, python, `${start}\n${kind.data}\n`);
    const task = briefFor(kind);
    const file = askedTable(task);
    if (file?.format !== 'csv') throw new Error('no table is asked for');
    const wanted = file.columns.map(({ name }) => name);
    const script = contractScript(task, file);
    const seen = kind.isPlain
      ? script.replace('for name in PACKAGES if find_spec(name) is not None', 'for name in ["numpy"]')
      : script;
    const contract = readContract(run(folder, python, seen));
    if ('problem' in contract) throw new Error(contract.problem);
    const model = modelScript(contract, kind.seconds ?? 12);
    expect(/^(?:from|import) (?:sklearn|scipy)/m.test(model)).toBe(kind.isPlain !== true);
    const printed = run(folder, python, model);
    expect(printed).toMatch(kind.prints ?? /validation/);
    expect(printed).not.toContain('it failed');
    if (kind.models !== undefined) expect(describeModel(contract)).toContain(kind.models);
    const [ids, score] = run(folder, python, measure, kind.metric).trim().split('\n');
    expect(ids).toBe('True');
    const sign = task.metric.direction === 'maximize' ? 1 : -1;
    expect(sign * Number(score)).toBeGreaterThan(sign * kind.reaches);
    expect(sign * kind.reaches).toBeGreaterThan(sign * kind.trivial);
    // The score that it prints is near its real one.
    const own = Number(/validation [^:]+: (\S+)/.exec(printed)?.[1]);
    expect(sign * own).toBeGreaterThan(sign * kind.trivial);
    expect(readFileSync(join(folder, 'submission.csv'), 'utf8').split('\n')[0]).toBe(
      ['id', ...wanted].join(','),
    );
  });

  test('leaves out a model that does not end, and still answers', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'data'));
    run(folder, python, `${start}\n${table.data}\n`);
    const file = askedTable(briefFor(table));
    if (file === null) throw new Error('no table is asked for');
    const contract = readContract(run(folder, python, contractScript(briefFor(table), file)));
    if ('problem' in contract) throw new Error(contract.problem);
    const endless = `class Endless:
    def fit(self, *_):
        while True:
            pass

make_usual = make_member

def make_member(name, *given):
    return (Endless(), make_usual(name, *given)[1]) if name == "kernel" else make_usual(name, *given)

if __name__ ==`;
    const model = modelScript({ ...contract, members: ['linear', 'kernel', 'forest'] }, 5);
    const printed = run(folder, python, model.replace('if __name__ ==', endless));
    expect(printed).toContain('kernel: left out, for want of time');
    expect(printed).toMatch(/^validation RMSE: /m);
    expect(readFileSync(join(folder, 'submission.csv'), 'utf8')).toContain('id,y');
  });
});
