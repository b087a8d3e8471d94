import { copyFileSync, cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type CheckTaskOptions,
  checkTask,
  type TaskResources,
  validationAgentsByName,
} from '../../src/runs/index.ts';
import { ensurePython, findTasks, loadTask, prepareTask } from '../../src/tasks/index.ts';
import { fixtureTasks } from '../fixtures/fixture-task.ts';
import { mlab } from '../fixtures/mlab-command.ts';

const root = join(import.meta.dirname, '../..');
const helpers = join(root, 'python');
const mirror = join(dirname(root), 'shared', 'data');
const minutes = 60_000;

const kaggle = existsSync(mirror) ? null : `its data comes from Kaggle, and there is no mirror in ${mirror}`;
const fromMirror = ['--mirror', mirror, '--allow-unverified'];

test('every task of the project is valid, and matches docs/tasks.md', () => {
  const { tasks, problems } = findTasks([join(root, 'tasks')]);
  expect(problems).toEqual([]);
  expect(tasks.filter(({ file }) => file.data === undefined).map(({ file }) => file.id)).toEqual([]);
});

describe('a trivial predictor that is the baseline', () => {
  test.for(['house-price', 'spaceship-titanic'])(
    'scores as task.yaml states: %s',
    { timeout: 5 * minutes },
    async (task, { skip }) => {
      if (kaggle !== null) skip(kaggle);
      const { code, stdout, stderr } = await mlab(
        ...['tasks', 'baseline', task, '--seeds', '1', '--json'],
        ...fromMirror,
      );
      expect(code, stderr).toBe(0);
      const Measured = z.object({ tasks: z.array(z.object({ caveat: z.string().nullable() })) });
      const [measured] = Measured.parse(JSON.parse(stdout)).tasks;
      // On a busy machine, there is a caveat about its time.
      expect(measured?.caveat ?? '').not.toContain('no longer scores');
    },
  );
});

/** An adversarial agent that stays silent where a task leaks proves nothing. */
describe('where a task leaks', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'mlab-leaks-'));
  let resources: TaskResources;

  beforeAll(async () => {
    const signal = AbortSignal.timeout(10 * minutes);
    const task = loadTask('digits', [join(root, 'tasks')]);
    const cache = process.env.MLAB_CACHE ?? join(scratch, 'cache');
    const python = await ensurePython(task.requirements, { cache, signal });
    const prepared = await prepareTask(task, { cache, helpers, allowUnverified: false, python, signal });
    resources = { task, python, prepared, concealed: [] };
  });
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  async function check(validationAgent: string, changes: Partial<CheckTaskOptions>) {
    const [report] = await checkTask({
      ...{
        resources,
        validationAgents: validationAgentsByName([validationAgent]),
        helpersFolder: helpers,
        versions: {},
        parallel: 1,
      },
      ...{
        folder: join(scratch, validationAgent),
        sandbox: 'bubblewrap',
        signal: AbortSignal.timeout(5 * minutes),
      },
      ...{ onProgress: () => {}, onReport: () => {} },
      ...changes,
    });
    return report;
  }

  test('the listener hears the network agent', async () => {
    const report = await check('network', { sandbox: 'none' });
    expect(report?.ok).toBe(false);
    expect(report?.faults.join('\n')).toContain('heard by TCP');
  });

  test('the label hunter finds labels among the public data, and wins with them', async () => {
    const publicFolder = join(scratch, 'public');
    cpSync(resources.prepared.publicFolder, publicFolder, { recursive: true });
    const labels = join(resources.prepared.privateFolder, 'labels.csv');
    copyFileSync(labels, join(publicFolder, 'digits-labels.csv'));
    const prepared = { ...resources.prepared, publicFolder };
    const report = await check('label-hunter', { resources: { ...resources, prepared } });
    expect(report).toMatchObject({ ok: false, succeeded: true, score: 1 });
    expect(report?.faults.join('\n')).toContain(`it read ${labels}`);
  });
});

test('a task that is not valid is not run, and every problem is listed', async () => {
  const { code, stdout } = await mlab('tasks', 'check', join(root, 'tasks'), '--json');
  expect(code).not.toBe(0);
  expect(stdout).toContain('no task.yaml');
});

test('in a file, lines of the table have 160 characters at most, and what was cut is as expected', async () => {
  const agents = ['--only', 'noop,escape,network'];
  const { code, stdout, stderr } = await mlab('tasks', 'check', join(fixtureTasks, 'sums'), ...agents);
  expect(code, stderr).toBe(0);
  const lines = stdout.trim().split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBe(160);
  expect(lines.filter((line) => line.endsWith('…'))).not.toEqual([]);
  expect(lines).toHaveLength(5);
}, 120_000);
