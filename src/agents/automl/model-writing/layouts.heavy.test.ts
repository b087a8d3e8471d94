import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { taskOf } from '../../../../test/fixtures/table-task.ts';
import { temporaryFolder } from '../../../../test/fixtures/temporary-folder.ts';
import { cacheFolder } from '../../../lib/cache-folder.ts';
import { ensurePython, loadTask } from '../../../tasks/index.ts';
import { askedTable, contractScript, modelScript, readContract } from './contract.ts';

/** Ways in which tasks lay out the same data: what the ids to predict are worth is found in all of them. */
const tasks = join(import.meta.dirname, '../../../../tasks');
const { executable: python } = await ensurePython(loadTask('digits', [tasks]).requirements, {
  cache: cacheFolder(process.env),
});

/** 160 things, of which the last 40 are to be predicted. `width` is what counts for all targets. */
const things = `
import csv, json, sqlite3, wave
from pathlib import Path
import numpy as np
rng = np.random.default_rng(0)
width, size = rng.normal(size=160), rng.normal(size=160)
height = np.round(3 * width + 20, 3)
wood = np.where(width > 0, "oak", "ash")
ids = [f"p{place}" for place in range(160)]
times = np.arange(64)
signals = np.array([np.sin(times * (0.9 if each > 0 else 0.3) + rng.random()) for each in width])
def save(path, header, rows):
    Path("data", path).parent.mkdir(parents=True, exist_ok=True)
    with open(Path("data", path), "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
def row(place, told):
    known = {"id": ids[place], "width": width[place], "size": size[place]}
    return known | ({"height": height[place]} if told else {})
rows = [row(place, place < 120) for place in range(160)]
save("test.csv", ["id"], [[each] for each in ids[120:]])
truth = dict(zip(ids[120:], height[120:]))
woods = dict(zip(ids[120:], wood[120:]))
`;

const names = [{ name: 'wood', type: 'text' as const, values: ['ash', 'oak'] }];
const layouts: [what: string, data: string, asked: Parameters<typeof taskOf>[1]][] = [
  [
    'lists in one JSON file',
    'Path("data/all.json").write_text(json.dumps({"train": rows[:120], "test": rows[120:]}))',
    [],
  ],
  [
    'objects in objects, and objects by id',
    `nested = {each: {"its": {"width": width[place], "size": size[place]}} for place, each in enumerate(ids)}
Path("data/things.json").write_text(json.dumps(nested))
Path("data/heights.json").write_text(json.dumps(dict(zip(ids[:120], height[:120]))))`,
    [],
  ],
  [
    'tables of a database',
    `database = sqlite3.connect("data/things.db")
database.execute("create table known(id text, width real, size real)")
database.execute("create table told(id text, height real)")
database.executemany("insert into known values(?, ?, ?)", [list(each.values())[:3] for each in rows])
database.executemany("insert into told values(?, ?)", list(zip(ids[:120], height[:120])))
database.commit()`,
    [],
  ],
  [
    'comments before the header, and columns that only the rows to learn from have',
    `save("train.csv", ["id", "width", "height", "felled"], [[ids[i], width[i], height[i], i % 7] for i in range(120)])
Path("data/train.csv").write_text("# measured in spring, by hand\\n" + Path("data/train.csv").read_text())
save("test.csv", ["id", "width"], [[ids[i], width[i]] for i in range(120, 160)])`,
    [{ name: 'predicted_height' }],
  ],
  [
    'tables in files of text',
    `Path("data/measured.txt").write_text("id\\tWidth\\theight\\n" + "".join(f"{ids[i]}\\t{width[i]}\\t{height[i]}\\n" for i in range(120)))
Path("data/asked.txt").write_text("id\\tWidth\\n" + "".join(f"{ids[i]}\\t{width[i]}\\n" for i in range(120, 160)))`,
    [],
  ],
  [
    'decimal commas, also before units',
    `comma = lambda value: f"{value:.3f}".replace(".", ",")
Path("data/measured.csv").write_text("id;width;height\\n" + "".join(f"{ids[i]};{comma(width[i] + 9)}{' mm' if i % 3 else ''};{comma(height[i])}\\n" for i in range(120)))
Path("data/asked.csv").write_text("id;width\\n" + "".join(f"{ids[i]};{comma(width[i] + 9)}{' mm' if i % 2 else ''}\\n" for i in range(120, 160)))`,
    [],
  ],
  [
    'events of each thing in lines of JSON',
    `events = [[[round(k / 9, 2), "tap" if each > 0 else "knock"] for k in range(3 + i % 4)] + [[1, "hum"]] for i, each in enumerate(width)]
for name, own in (("known", range(120)), ("asked", range(120, 160))):
    told = [{"id": ids[i], "events": events[i], **({"wood": wood[i]} if i < 120 else {})} for i in own]
    Path(f"data/{name}.jsonl").write_text("".join(json.dumps(each) + "\\n" for each in told))`,
    names,
  ],
  [
    'events of each thing in lists of JSON',
    `events = [[{"at": k, "what": "tap" if each > 0 else "knock"} for k in range(3 + i % 4)] for i, each in enumerate(width)]
told = [{"id": ids[i], "events": events[i], **({"wood": wood[i]} if i < 120 else {})} for i in range(160)]
Path("data/known.json").write_text(json.dumps(told[:120]))
Path("data/asked.json").write_text(json.dumps(told[120:]))`,
    names,
  ],
  [
    'recordings in files beside columns of numbers',
    `for i in range(160):
    Path("data/signals").mkdir(exist_ok=True)
    np.save(f"data/signals/{ids[i]}.npy", signals[i])
save("known.csv", ["id", "volts", "wood"], [[ids[i], round(rng.random(), 3), wood[i]] for i in range(120)])
save("asked.csv", ["id", "volts"], [[ids[i], round(rng.random(), 3)] for i in range(120, 160)])`,
    names,
  ],
  [
    'columns that blanks separate',
    `Path("data/measured.dat").write_text("  id       width      height\\n" + "".join(f"{ids[i]:>6} {width[i]:10.4f} {height[i]:11.4f}\\n" for i in range(120)))
Path("data/asked.dat").write_text("  id       width\\n" + "".join(f"{ids[i]:>6} {width[i]:10.4f}\\n" for i in range(120, 160)))`,
    [],
  ],
  [
    'amounts of money',
    `save("train.csv", ["id", "width", "height"], [[ids[i], width[i], f"\${1000 * height[i]:,.2f}"] for i in range(120)])
save("test.csv", ["id", "width"], [[ids[i], width[i]] for i in range(120, 160)])
truth = {each: 1000 * value for each, value in truth.items()}`,
    [],
  ],
  [
    'days as ids, and nothing else',
    `days = [str(np.datetime64("2024-01-01") + place) for place in range(160)]
weekly = 20 + 5 * (np.arange(160) % 7)
save("history.csv", ["id", "height"], zip(days[:120], weekly))
save("test.csv", ["id"], [[each] for each in days[120:]])
truth = dict(zip(days[120:], weekly[120:]))`,
    [],
  ],
  [
    'rows of the ids in tables of the same name',
    `for folder, own in (("train", range(120)), ("test", range(120, 160))):
    save(f"{folder}/visits.csv", ["id", "load"], [[ids[i], width[i] + each] for i in own for each in (-1, 0, 1)])
save("train/things.csv", ["id", "size", "height"], [[ids[i], size[i], height[i]] for i in range(120)])
save("test.csv", ["id", "size"], [[ids[i], size[i]] for i in range(120, 160)])`,
    [],
  ],
  [
    'an array in a folder for each id',
    `for place, each in enumerate(ids):
    Path("data/units", each).mkdir(parents=True)
    np.save(f"data/units/{each}/sound.npy", signals[place])
    Path(f"data/units/{each}/about.json").write_text(json.dumps({"size": size[place]}))
save("train.csv", ["id", "wood"], zip(ids[:120], wood))`,
    names,
  ],
  [
    'a signal in each cell',
    `save("train.csv", ["id", "signal", "wood"], [[ids[i], " ".join(map(str, signals[i])), wood[i]] for i in range(120)])
save("test.csv", ["id", "signal"], [[ids[i], json.dumps(signals[i].tolist())] for i in range(120, 160)])`,
    names,
  ],
  [
    'a signal in numbered columns',
    `header = [f"t{place}" for place in range(64)]
save("train.csv", ["id", "wood", *header], [[ids[i], wood[i], *signals[i]] for i in range(120)])
save("test.csv", ["id", *header], [[ids[i], *signals[i]] for i in range(120, 160)])`,
    names,
  ],
  [
    'an array in each file, of different lengths',
    `Path("data/signals").mkdir()
for place, each in enumerate(ids):
    np.save(f"data/signals/{each}.npy", signals[place][: 64 - place % 5])
save("train.csv", ["id", "wood"], zip(ids[:120], wood))`,
    names,
  ],
  [
    'plain grey pictures in folders of classes',
    `for place, each in enumerate(ids):
    path = Path("data", "test" if place >= 120 else f"train/{wood[place]}", f"{each}.pgm")
    path.parent.mkdir(parents=True, exist_ok=True)
    points = (np.arange(144).reshape(12, 12) * (3 if width[place] > 0 else 1) + rng.integers(0, 9, (12, 12))) % 256
    path.write_bytes(b"P5\\n# a sensor\\n12 12\\n255\\n" + points.astype("u1").tobytes())`,
    names,
  ],
  [
    'sounds in folders of classes',
    `for place, each in enumerate(ids):
    path = Path("data", "test" if place >= 120 else f"train/{wood[place]}", f"{each}.wav")
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as sound:
        sound.setparams((1, 2, 8000, 64, "NONE", ""))
        sound.writeframes((9000 * signals[place]).astype("<i2").tobytes())`,
    names,
  ],
  [
    'files that are called by their classes',
    `for place, each in enumerate(ids):
    path = Path("data/test", f"{each}.npy") if place >= 120 else Path("data/train", f"{wood[place]}_{place:03}.npy")
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, signals[place])`,
    names,
  ],
  [
    'one array of all rows, and tables of places',
    `order = rng.permutation(160)
np.save("data/signals.npy", signals)
save("train.csv", ["id", "wood"], [[i, wood[i]] for i in order[:120]])
save("test.csv", ["id"], [[i] for i in order[120:]])
woods = {str(i): wood[i] for i in order[120:]}`,
    names,
  ],
  [
    'arrays in the order of tables, which say whose the signals are and lack an answer',
    `np.save("data/heard.npy", signals[:120])
np.save("data/asked.npy", signals[120:])
save("train.csv", ["id", "maker", "wood"], [[ids[i], f"m{i % 6}", wood[i] if i != 7 else ""] for i in range(120)])
save("test.csv", ["id", "maker"], [[ids[i], f"m{6 + i % 3}"] for i in range(120, 160)])`,
    names,
  ],
];

function startFolder() {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'data'));
  const run = (script: string) => {
    writeFileSync(join(folder, 'script.py'), script);
    const done = spawnSync(python, ['script.py'], { cwd: folder, encoding: 'utf8' });
    expect(done.status, done.stderr).toBe(0);
    return done.stdout;
  };
  return { folder, run };
}

test.each(layouts)('a model is written for %s', (_, data, asked) => {
  const { folder, run } = startFolder();
  const [column = { name: 'height' }] = asked;
  const task = taskOf(asked === names ? 'accuracy' : 'RMSE', [column]);
  const told = `print("TRUTH", json.dumps(${asked === names ? 'woods' : 'truth'}, default=float))`;
  const truth: Record<string, unknown> = JSON.parse(
    run(`${things}${data}\n${told}`).split('TRUTH ')[1] ?? '',
  );
  const file = askedTable(task);
  if (file === null) throw new Error('the task asks for no table');
  const contract = readContract(run(contractScript(task, file)));
  if ('problem' in contract) throw new Error(contract.problem);
  run(modelScript({ ...contract, members: ['linear'] }, 30));
  const [, ...lines] = readFileSync(join(folder, file.path), 'utf8').trim().split('\n');
  const answers = lines.map((line) => line.split(','));
  expect(answers.map(([id]) => id).sort()).toEqual(Object.keys(truth).sort());
  const values = Object.values(truth).map(Number);
  const mean = values.reduce((sum, each) => sum + each, 0) / values.length;
  const errors = answers.map(([id = '', value]) =>
    asked === names ? Number(value !== truth[id]) : (Number(value) - Number(truth[id])) ** 2,
  );
  const error = errors.reduce((sum, each) => sum + each, 0) / errors.length;
  const variance = values.reduce((sum, each) => sum + (each - mean) ** 2, 0) / values.length;
  expect(error).toBeLessThan(asked === names ? 0.1 : 0.2 * variance);
});

/** What the starter submits, and how an answer of automl's model is read from the same file. */
const submissions = [
  [
    'lines of JSON',
    'out/answers.jsonl',
    `with open("out/answers.jsonl", "w") as file:
    for each in ids[120:]:
        file.write(json.dumps({"id": each, "grade": 3}) + "\\n")`,
    `told = {row["id"]: row["grade"] for row in map(json.loads, open("out/answers.jsonl"))}
assert all(type(each) is int for each in told.values())`,
  ],
  [
    'an array in the order of a table',
    'out/answers.npy',
    'np.save("out/answers.npy", np.full(40, 3.0))',
    'told = dict(zip(ids[120:], np.load("out/answers.npy")))',
  ],
] as const;

test.each(submissions)('a model answers in %s if the starter does', (_, path, starter, reading) => {
  const { run } = startFolder();
  const grades = 'grade = np.clip(np.round(2 * width), -3, 3).astype(int) + 4';
  run(`${things}${grades}
save("train.csv", ["id", "width", "size", "grade"], zip(ids[:120], width, size, grade))
save("test.csv", ["id", "width", "size"], zip(ids[120:], width[120:], size[120:]))
Path("out").mkdir()
${starter}`);
  const brief = taskOf('quadratic weighted kappa', [{}]);
  const files = [{ format: 'file' as const, path, description: 'a grade for each thing' }];
  const task = { ...brief, submission: { ...brief.submission, files } };
  const file = askedTable(task);
  if (file === null) throw new Error('the task asks for no table');
  const contract = readContract(run(contractScript(task, file)));
  if ('problem' in contract) throw new Error(contract.problem);
  expect(contract.settings).toMatchObject({ TEST: 'data/test.csv', ID: 'id', TARGETS: ['grade'] });
  run(modelScript(contract, 20));
  const measure = `${reading}
print(np.mean([abs(told[ids[i]] - grade[i]) for i in range(120, 160)]))`;
  expect(
    Number(run(`${things.replace('save("test.csv"', '0 and save("test.csv"')}${grades}\n${measure}`)),
  ).toBeLessThan(0.2);
});
