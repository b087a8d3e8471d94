/**
 * Runs of the agent `tools` with a scripted model, in which every step is a command that prints a line: measures the
 * disk space and the duration of such steps. Prints the bytes of the experiment after some of the steps of the first
 * run. Arguments: folder of the experiment, cache, driver of the sandbox, how many at a time, runs, steps, how many of
 * the runs are executed (the others are copies of these), then after which steps.
 */
import { cpSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { agentByName } from '../../src/agents/index.ts';
import { ModelRegistry } from '../../src/models/index.ts';
import { makePlan, runExperiment } from '../../src/runs/index.ts';
import { ExperimentFile } from '../../src/schema/index.ts';
import { createExperiment } from '../../src/store/index.ts';
import { folderSize } from '../folder-size.ts';
import { helpersFolder, provision } from '../task-resources.ts';

const [folder = '', cache = '', sandbox, ...numbers] = process.argv.slice(2);
const [parallel = 1, runs = 1, steps = 1, distinct = 1, ...lookAfter] = numbers.map(Number);
const { signal } = new AbortController();
const resources = await provision(cache, signal);
const script = `${basename(folder)}.jsonl`;
writeFileSync(join(dirname(folder), script), replies(steps));
const file = ExperimentFile.parse({
  ...{ name: basename(folder), agents: ['tools'], models: [`scripted/${script}`], seeds: runs, parallel },
  ...{ sandbox, grade: 'none', limits: { steps: 2 * steps, wall_seconds: 86_400 } },
});
const tasks = [{ task: resources.task, verified: resources.prepared.verified }];
const plan = makePlan(file, tasks, [{ agent: agentByName('tools'), options: {} }], 'bench');
const first = plan.runs[0]?.id;
const sizes: number[] = [];
const experiment = createExperiment(folder, plan);
const start = performance.now();
const results = await runExperiment(
  { ...plan, runs: plan.runs.slice(0, distinct) },
  {
    experiment,
    resources: new Map([[resources.task.file.id, resources]]),
    registry: new ModelRegistry({ providers: {}, variables: {}, folder: dirname(folder) }),
    ...{ helpersFolder, versions: {}, incomplete: 'continue', signal },
    onProgress: (progress) => {
      if (progress.kind !== 'run_step' || progress.run.id !== first) return;
      if (progress.progress.kind !== 'step_finished' || !lookAfter.includes(progress.progress.step)) return;
      sizes.push(folderSize(folder).bytes);
    },
  },
);
const seconds = (performance.now() - start) / 1000;
const problems = results.flatMap(({ spec, problem, record }) =>
  record?.end?.reason === 'final_answer' ? [] : [`${spec.id}: ${problem ?? record?.end?.message ?? ''}`],
);
for (const [index, spec] of plan.runs.entries()) {
  const original = plan.runs[index % distinct];
  if (index < distinct || original === undefined) continue;
  const [from, to] = [experiment.runFolder(original.id), experiment.runFolder(spec.id)];
  cpSync(from.folder, to.folder, { recursive: true });
  const record = from.readRecord();
  if (record !== null) to.writeRecordSync({ ...record, spec });
}
process.stdout.write(JSON.stringify({ sizes, problems, seconds }));

function replies(count: number): string {
  const commands = Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      tool_calls: [{ name: 'Run_Command', input: { command: `echo step ${index + 1}` } }],
    }),
  );
  // The agent asks once whether the answer is the final one.
  const end = { repeat: true, tool_calls: [{ name: 'Final_Answer', input: { final_answer: 'done' } }] };
  return [...commands, JSON.stringify(end), ''].join('\n');
}
