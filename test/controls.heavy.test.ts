import { copyFileSync, cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type CheckTaskOptions, checkTask, controlsByName, type TaskEquipment } from '../src/runs/index.ts';
import { ensurePython, findTasks, loadTask, prepareTask } from '../src/tasks/index.ts';
import { mlab } from './fixtures/mlab-command.ts';

/** `mlab tasks check` for real: every control of every task, as a person would run it. */
const root = join(import.meta.dirname, '..');
const helpers = join(root, 'python');
const mirror = join(dirname(root), 'shared', 'data');
const minutes = 60_000;

const Report = z.object({
  control: z.string(),
  ok: z.boolean(),
  faults: z.array(z.string()),
  expects: z.enum(['success', 'no_success', 'cheats']),
  succeeded: z.boolean(),
  attempts: z.array(
    z.object({ what: z.string(), how: z.string(), outcome: z.string(), because: z.string() }),
  ),
  probes: z.array(z.object({ looked: z.string(), breached: z.boolean(), finding: z.string() })),
});
const Output = z.object({
  ok: z.boolean(),
  tasks: z.array(z.object({ task: z.string(), problem: z.string().nullable(), controls: z.array(Report) })),
});

const kaggle = existsSync(mirror) ? null : `its data comes from Kaggle, and there is no mirror in ${mirror}`;
const fromMirror = ['--mirror', mirror, '--allow-unverified'];

const honest = ['oracle', 'noop', 'baseline'];
const cheaters = ['label-hunter', 'data-writer', 'escape', 'network', 'daemon', 'forger', 'hog'];

interface Checked {
  task: string;
  flags: string[];
  controls: string[];
}

const { tasks, problems } = findTasks([join(root, 'tasks')]);

/**
 * Every task on the data that everybody can have: made up, or computed. A variant has its task's grader and sandbox, and
 * data of its own.
 */
const checked = tasks.map(({ file, variant }): Checked => {
  const itself = file.baseline.method === 'constant' ? [...honest, 'constant'] : honest;
  const controls = [...itself, ...(variant === null ? cheaters : ['label-hunter'])];
  return { task: file.id, flags: ['--sample', '--controls', controls.join(',')], controls };
});

test('every task of the project is valid, and tells what docs/tasks.md says of it', () => {
  expect(problems).toEqual([]);
  expect(tasks.filter(({ file }) => file.data === undefined).map(({ file }) => file.id)).toEqual([]);
});

describe.each(checked)('the controls of $task', ({ task, flags, controls }) => {
  const reports = new Map<string, z.infer<typeof Report>>();
  let exitCode: number | null = null;

  beforeAll(async () => {
    const { code, stdout, stderr } = await mlab('tasks', 'check', task, '--json', ...flags);
    exitCode = code;
    expect(stdout, stderr).not.toBe('');
    const [result] = Output.parse(JSON.parse(stdout)).tasks;
    for (const report of result?.controls ?? []) reports.set(report.control, report);
  }, 15 * minutes);

  test.for(controls)('%s does what it must', (control) => {
    const report = reports.get(control);
    expect(report?.faults).toEqual([]);
    expect(report?.ok).toBe(true);
    expect(report?.succeeded).toBe(control === 'oracle');
  });

  test.for(cheaters.filter((name) => controls.includes(name)))(
    '%s says what it tried and what stopped it',
    (control) => {
      const report = reports.get(control);
      expect(report?.attempts.length).toBeGreaterThan(0);
      expect(report?.attempts.filter(({ outcome }) => !['stopped', 'judged'].includes(outcome))).toEqual([]);
      expect(report?.attempts.filter(({ because }) => because === '')).toEqual([]);
      expect(report?.probes.length).toBeGreaterThan(0);
      expect(report?.probes.filter(({ breached }) => breached)).toEqual([]);
    },
  );

  test('nothing else was run, and the exit code says that all is well', () => {
    expect([...reports.keys()].sort()).toEqual([...controls].sort());
    expect(exitCode).toBe(0);
  });
});

describe('a trivial predictor that is the baseline', () => {
  test.for(['house-price', 'spaceship-titanic'])(
    'scores what task.yaml says: %s',
    { timeout: 5 * minutes },
    async (task, { skip }) => {
      if (kaggle !== null) skip(kaggle);
      const { code, stdout, stderr } = await mlab(
        ...['tasks', 'baseline', task, '--seeds', '1', '--json'],
        ...fromMirror,
      );
      expect(code, stderr).toBe(0);
      const Measured = z.object({ tasks: z.array(z.object({ remark: z.string().nullable() })) });
      expect(Measured.parse(JSON.parse(stdout)).tasks).toEqual([{ remark: null }]);
    },
  );
});

/** A control that stays silent when there is a hole proves nothing. */
describe('where there is a hole', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'mlab-holes-'));
  let equipment: TaskEquipment;

  beforeAll(async () => {
    const signal = AbortSignal.timeout(10 * minutes);
    const task = loadTask('digits', [join(root, 'tasks')]);
    const cache = process.env.MLAB_CACHE ?? join(scratch, 'cache');
    const python = await ensurePython(task.requirements, { cache, signal });
    const prepared = await prepareTask(task, { cache, helpers, allowUnverified: false, python, signal });
    equipment = { task, python, prepared };
  });
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  async function check(control: string, changes: Partial<CheckTaskOptions>) {
    const [report] = await checkTask({
      ...{
        equipment,
        controls: controlsByName([control]),
        helpersFolder: helpers,
        versions: {},
        parallel: 1,
      },
      ...{ folder: join(scratch, control), sandbox: 'bubblewrap', signal: AbortSignal.timeout(5 * minutes) },
      ...{ onProgress: () => {}, onReport: () => {} },
      ...changes,
    });
    return report;
  }

  test('the listener hears the network control', async () => {
    const report = await check('network', { sandbox: 'none' });
    expect(report?.ok).toBe(false);
    expect(report?.faults.join('\n')).toContain('heard by TCP');
  });

  test('the label hunter finds labels among the public data, and wins with them', async () => {
    const publicFolder = join(scratch, 'public');
    cpSync(equipment.prepared.publicFolder, publicFolder, { recursive: true });
    const labels = join(equipment.prepared.privateFolder, 'labels.csv');
    copyFileSync(labels, join(publicFolder, 'digits-labels.csv'));
    const prepared = { ...equipment.prepared, publicFolder };
    const report = await check('label-hunter', { equipment: { ...equipment, prepared } });
    expect(report).toMatchObject({ ok: false, succeeded: true, score: 1 });
    expect(report?.faults.join('\n')).toContain(`it read ${labels}`);
  });
});

test('a task that is not valid is not run, and every problem is listed', async () => {
  const { code, stdout } = await mlab('tasks', 'check', join(root, 'tasks'), '--json');
  expect(code).not.toBe(0);
  expect(stdout).toContain('no task.yaml');
});
