import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { briefOf } from '../../../../../test/fakes/fake-environment.ts';
import { graphData, graphScripts } from '../../../../../test/fixtures/graph-scripts.ts';
import { temporaryFolder } from '../../../../../test/fixtures/temporary-folder.ts';
import { runScripts, torchPython } from '../../../../../test/fixtures/torch-python.ts';
import { torchScripts } from '../../../../../test/fixtures/torch-scripts.ts';
import { arraysScript, readArrays } from '../../model-writing/arrays.ts';
import { rewriteGraph } from '../graph.ts';
import type { Rewriter, Surroundings } from '../rewrite.ts';
import { rewriteTorch } from './torch.ts';

const root = join(import.meta.dirname, '../../../../..');
const python = await torchPython();

/** Adam and its relatives rise to three times their rate, but not beyond this. */
const highestRate = 0.003;

const run = (folder: string, scripts: ReadonlyMap<string, string>) => runScripts(python, folder, scripts);

function scoreOf(printed: string): number {
  return Number(/(?:accuracy|MAE|loss|acc)\D*([\d.]+)\s*$/.exec(printed.trimEnd())?.[1] ?? Number.NaN);
}

function surroundingsOf(metric: string): Surroundings {
  const direction = metric === 'accuracy' ? 'maximize' : 'minimize';
  const task = briefOf({ metric: { name: metric, unit: 'units', direction } });
  return { task, arrays: [], packages: [] };
}

/** The script, each rewrite of it, and all compatible ones on top of each other, by name of the rewrite. */
function rewritten(rewriter: Rewriter, source: string, surroundings: Surroundings): Map<string, string> {
  const once = rewriter(source, surroundings);
  const found = new Map([['starter', source], ...once.map((each) => [each.name, each.source] as const)]);
  let all = source;
  for (const { name } of once) {
    const next = rewriter(all, surroundings).find((each) => each.name === name);
    if (next !== undefined) all = next.source;
  }
  return found.set('all of them', all);
}

describe('rewritten scripts', () => {
  test.each(Object.entries(torchScripts))('%s runs to its end after every rewrite', (_, source) => {
    const metric = source.includes('MAE') ? 'MAE' : 'accuracy';
    const scripts = rewritten(rewriteTorch, source, surroundingsOf(metric));
    expect(scripts.size).toBeGreaterThan(1);
    const results = run(temporaryFolder(), scripts);
    for (const [name, { printed, rate, error }] of Object.entries(results)) {
      expect(error, name).toBeNull();
      expect(scoreOf(printed), `${name}: ${printed}`).toBeGreaterThanOrEqual(0);
      // The last step of a schedule is small, so the loops report their progress correctly.
      if (/recipe/.test(name)) expect(rate, name).toBeLessThan(0.3 * highestRate);
    }
  });

  test('features of neighbours help if neighbours are similar, and leak no unknown labels', () => {
    const folder = temporaryFolder();
    execFileSync(python, ['-c', graphData], { cwd: folder });
    writeFileSync(join(folder, 'look.py'), arraysScript());
    const printed = execFileSync(python, ['look.py'], { cwd: folder, encoding: 'utf8' });
    const { arrays = [], packages = [] } = readArrays(printed) ?? {};
    const surroundings = { task: surroundingsOf('accuracy').task, arrays, packages };
    expect(packages).toContain('scipy');
    expect(arrays).toContainEqual(
      expect.objectContaining({
        path: 'data/labels.npy',
        key: '',
        shape: [400],
        kind: 'i',
        least: -1,
        most: 3,
      }),
    );
    expect(arrays.find(({ key }) => key === 'links')?.shape).toEqual([2, 1500]);
    const scripts = new Map<string, string>();
    for (const [name, source] of Object.entries(graphScripts)) {
      scripts.set(name, source);
      const rewrites = rewriteGraph(source, surroundings);
      expect(rewrites.length, name).toBe(2);
      for (const [place, each] of rewrites.entries()) scripts.set(`${name} ${place}`, each.source);
    }
    const results = run(folder, scripts);
    for (const [name, { printed: lines, error }] of Object.entries(results)) {
      expect(error, name).toBeNull();
      const starter = scoreOf(results[name.replace(/ \d$/, '')]?.printed ?? '');
      if (/\d$/.test(name)) expect(scoreOf(lines), name).toBeGreaterThan(starter + 0.1);
    }
    const part = join(root, 'python/automl/parts/graph.py');
    const check = `
${readFileSync(part, 'utf8')}
import numpy
x, y, e, t = (numpy.load(f"data/{name}.npy") for name in ("features", "labels", "edges", "train"))
before = with_neighbours(x, e, labels=y, known=t)
hidden = y.copy()
hidden[numpy.setdiff1d(numpy.arange(len(y)), t)] = 0
assert (with_neighbours(x, e, labels=hidden, known=t) == before).all()
for row in t[:40]:
    changed = y.copy()
    changed[row] = (y[row] + 1) % 4
    after = with_neighbours(x, e, labels=changed, known=t)
    assert numpy.allclose(after[row], before[row])
    assert not numpy.allclose(after, before)
`;
    execFileSync(python, ['-c', check], { cwd: folder });
  });
});
