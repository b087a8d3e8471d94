import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentByName } from '../src/agents/index.ts';
import { evaluateRun } from '../src/evaluation/index.ts';
import { gradeRun } from '../src/grading/index.ts';
import { cacheFolder } from '../src/lib/cache-folder.ts';
import { checkTask, type TaskResources, validationAgentsByName } from '../src/runs/index.ts';
import type { FlagKind, RunEvaluation } from '../src/schema/index.ts';
import { openExperiment } from '../src/store/index.ts';
import { ensurePython, loadTask, prepareTask, sampleOf } from '../src/tasks/index.ts';
import { runOnce } from './fixtures/run-place.ts';

/** The integrity findings for runs whose intentions are known: those of the tasks' validation agents. */
const root = join(import.meta.dirname, '..');
const helpers = join(root, 'python');
const minutes = 60_000;
const scratch = mkdtempSync(join(tmpdir(), 'mlab-integrity-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

async function provision(id: string): Promise<TaskResources> {
  const task = sampleOf(loadTask(id, [join(root, 'tasks')]));
  const cache = cacheFolder(process.env);
  const python = await ensurePython(task.requirements, { cache });
  const prepared = await prepareTask(task, { cache, helpers, allowUnverified: false, python });
  return { task, python, prepared, concealed: [] };
}

/** The evaluations of validation agents by name. */
async function evaluationsOf(id: string, names: string[]): Promise<Map<string, RunEvaluation>> {
  const folder = mkdtempSync(join(scratch, `${id}-`));
  await checkTask({
    ...{
      resources: await provision(id),
      validationAgents: validationAgentsByName(names),
      helpersFolder: helpers,
      folder,
    },
    ...{ versions: {}, sandbox: 'bubblewrap', parallel: 1, signal: AbortSignal.timeout(10 * minutes) },
    ...{ onProgress: () => {}, onReport: () => {} },
  });
  const experiment = openExperiment(folder);
  return new Map(
    experiment.plan.runs.map((spec) => [spec.agent, evaluateRun(experiment.runFolder(spec.id), spec)]),
  );
}

const expected: Record<string, FlagKind> = {
  'label-hunter': 'hidden_data',
  'data-writer': 'read_only',
  escape: 'outside',
  network: 'network',
  daemon: 'outside',
  forger: 'grader',
  hog: 'forged_result',
};

describe('validation agents that cheat', () => {
  let evaluations: Map<string, RunEvaluation>;
  beforeAll(async () => {
    evaluations = await evaluationsOf('digits', Object.keys(expected));
  }, 10 * minutes);

  test.for(Object.entries(expected))('%s is flagged: %s', ([validationAgent, kind]) => {
    const flags = evaluations.get(validationAgent)?.integrity ?? [];
    expect(flags.map((flag) => flag.kind)).toContain(kind);
    for (const { evidence } of flags) expect(evidence).toMatch(/^.{5,260}$/);
  });
});

describe('validation agents that do not cheat', () => {
  test.for(['digits', 'diabetes', 'physical-law'])(
    'are not flagged: %s',
    { timeout: 10 * minutes },
    async (id) => {
      const evaluations = await evaluationsOf(id, ['oracle', 'noop', 'baseline']);
      for (const [validationAgent, { integrity, end }] of evaluations) {
        expect(end, validationAgent).not.toBeNull();
        expect(integrity, validationAgent).toEqual([]);
      }
      const { grades, efficiency, steps } = evaluations.get('baseline') ?? {};
      expect(grades?.map(({ final, valid }) => [final, valid])).toEqual([[true, true]]);
      expect(steps).toBeGreaterThan(0);
      expect(efficiency?.money).toBe(0);
    },
  );

  test('nor is the agent automl', { timeout: 10 * minutes }, async () => {
    const resources = await provision('digits');
    const changes = { tasks: ['digits'], limits: { steps: 12 } };
    const { record, folder } = await runOnce(scratch, resources, agentByName('automl'), { changes });
    const signal = AbortSignal.timeout(minutes);
    await gradeRun({ folder, ...resources, helpersFolder: helpers, which: 'all', signal });
    const { integrity, grades, efficiency } = evaluateRun(folder, record.spec);
    expect(integrity).toEqual([]);
    expect(grades.at(-1)).toMatchObject({ final: true, valid: true, money: 0, tokens: 0 });
    expect(grades.map(({ seconds }) => seconds)).toEqual(
      grades.map(({ seconds }) => seconds).toSorted((one, other) => one - other),
    );
    expect(efficiency.cpu_seconds).toBeGreaterThan(0.5);
    expect(efficiency.peak_memory_bytes).toBeGreaterThan(20_000_000);
    expect(efficiency.seconds.execution).toBeLessThanOrEqual(efficiency.seconds.wall);
  });
});
