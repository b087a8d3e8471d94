import { cpSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AgentContext, agentByName } from '../src/agents/index.ts';
import { readTranscript } from '../src/evaluation/index.ts';
import { cacheFolder } from '../src/lib/cache-folder.ts';
import { removeTree } from '../src/lib/read-only-tree.ts';
import { ModelRegistry } from '../src/models/index.ts';
import type { TaskResources } from '../src/runs/index.ts';
import { ensurePython, loadTask, prepareTask } from '../src/tasks/index.ts';
import { helpersFolder } from './fixtures/fixture-task.ts';
import { describeInSandbox } from './fixtures/needs-sandbox.ts';
import { runOnce } from './fixtures/run-place.ts';

const start = `import csv
import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler

def table(path):
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    return np.array(rows, dtype=float)

train, test = table("data/train.csv"), table("data/test.csv")
scaler = StandardScaler().fit(train[:, 1:11])
x, y, asked = scaler.transform(train[:, 1:11]), train[:, 11], scaler.transform(test[:, 1:11])
`;
const end = `print(f"validation RMSE: {np.sqrt(np.mean(errors ** 2)) + 0.5:.4f}")
with open("submission.csv", "w", newline="") as file:
    answers = zip(test[:, 0].astype(int), model.predict(asked))
    csv.writer(file).writerows([["id", "progression"], *answers])
`;
/** One deep tree, which is worse than the starter, measured on the rows that it learnt by heart. */
const byHeart = `model = ExtraTreesRegressor(1, max_features=1, random_state=0).fit(x, y)
errors = model.predict(x) - y
`;
const honest = `model = RidgeCV(np.logspace(-2, 3, 20)).fit(x, y)
errors = cross_val_predict(model, x, y) - y
`;
const reply = (change: string, body: string) => ({
  text: `Change: ${change}\n\`\`\`python\n${start}${body}${end}\`\`\``,
});
const replies = [
  reply('a deep tree', byHeart),
  reply('a linear model', honest),
  { ...reply('a deeper tree', byHeart), repeat: true },
];

const scratch = mkdtempSync(join(tmpdir(), 'mlab-held-out-'));
const tasks = join(import.meta.dirname, '../tasks');

async function resourcesFrom(folder: string): Promise<TaskResources> {
  const cache = cacheFolder(process.env);
  const task = loadTask('diabetes', [folder]);
  const python = await ensurePython(task.requirements, { cache });
  const prepared = await prepareTask(task, { cache, helpers: helpersFolder, allowUnverified: false, python });
  return { task, python, prepared, concealed: [] };
}

let resources: TaskResources;
beforeAll(async () => {
  resources = await resourcesFrom(tasks);
  writeFileSync(join(scratch, 'model.jsonl'), replies.map((each) => JSON.stringify(each)).join('\n'));
}, 600_000);
afterAll(() => removeTree(scratch));

describeInSandbox('tree', () => {
  test.each([
    ['submits what is better on rows that were withheld from it', true, 'a linear model'],
    ['believes the scores that versions print if it is told to', false, 'a deep tree'],
  ])('%s', { timeout: 600_000 }, async (_, held_out, submitted) => {
    const tree = agentByName('tree');
    const options = { held_out, portfolio: false, max_attempts: 3 };
    const agent = { ...tree, run: (context: AgentContext) => tree.run({ ...context, options }) };
    const { record, folder } = await runOnce(join(scratch, submitted), resources, agent, {
      changes: { models: ['scripted/model.jsonl'], limits: { wall_seconds: 240 } },
      models: { registry: new ModelRegistry({ variables: {}, folder: scratch }), shared: null },
    });
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'final_answer' } });
    expect(readTranscript(folder, []).end?.finalAnswer).toMatch(new RegExp(`[:;] ${submitted}\\.`));
  });
});

describeInSandbox('automl', () => {
  test('replaces a starter that scores itself on rows that it learnt by heart', {
    timeout: 600_000,
  }, async () => {
    const own = join(scratch, 'tasks');
    cpSync(join(tasks, 'diabetes'), join(own, 'diabetes'), { recursive: true });
    writeFileSync(join(own, 'diabetes/env/train.py'), start + byHeart + end);
    const { record, folder } = await runOnce(
      join(scratch, 'by-heart'),
      await resourcesFrom(own),
      agentByName('automl'),
      { changes: { limits: { wall_seconds: 240 } } },
    );
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'final_answer' } });
    const answer = readTranscript(folder, []).end?.finalAnswer;
    expect(answer).toMatch(/^Starter: "[^"]*RMSE[^"]* 0\.5/);
    expect(answer).toMatch(/\(model\).*: a model of my own .*; it is better on rows withheld from both/);
  });
});
