/**
 * Executes the runs of an experiment like `mlab run`, and reports what it does: made to be killed. It first prepares,
 * which takes most of a process's time, and waits for its `Work` on standard input. Argument: the cache.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { openRegistry, runExperiment } from '../../src/runs/index.ts';
import { openExperiment } from '../../src/store/index.ts';
import { brancher, gateOf } from '../kill/brancher.ts';
import { Work } from '../kill/life.ts';
import { Marks, say } from '../kill/marks.ts';
import { helpersFolder, provision } from '../task-resources.ts';

const [cache = ''] = process.argv.slice(2);
const { signal } = new AbortController();
const resources = await provision(cache, signal);
say('ready');
const input = createInterface({ input: process.stdin });
const [line] = await once(input, 'line');
input.close();
const work = Work.parse(JSON.parse(String(line)));
const marks = new Marks(work.known, work.aim);
await marks.ready();
say('go');

const experiment = openExperiment(work.experiment);
const { plan } = experiment;
const registry = openRegistry(plan, { variables: process.env, folder: work.experiment });
const results = await runExperiment(plan, {
  ...{ experiment, registry, helpersFolder, versions: {}, incomplete: 'continue', signal },
  resources: new Map([[resources.task.file.id, resources]]),
  parentExperiment: work.parent ?? undefined,
  agentOf: async () => brancher(marks),
  gate: work.gated ? gateOf(marks) : undefined,
  onProgress: (progress) => {
    if (progress.kind === 'run_started') marks.begin(progress.resumed ? 'resume' : 'start');
    if (progress.kind === 'run_kept') marks.begin('grade');
    if (progress.kind === 'run_graded') marks.end('grade');
    if (progress.kind === 'run_ended') {
      for (const mark of ['end', 'resume', 'start']) marks.end(mark);
      marks.begin(progress.record.status === 'waiting' ? 'wait' : 'grade');
    }
    if (progress.kind !== 'run_step') return;
    for (const mark of ['resume', 'start']) marks.end(mark);
    const event = progress.progress;
    if (event.kind === 'model_asked') marks.begin('model');
    if (event.kind === 'model_called') marks.end('model');
    if (event.kind === 'step_started') marks.begin(`step ${event.branch ?? 'main'}`);
    if (event.kind !== 'step_finished') return;
    const { branch = 'main', step, result } = event;
    say(`finished ${branch}:${step}`);
    marks.end(`step ${branch}`);
    if (result.ended) marks.begin('end');
  },
});
for (const { problem } of results) if (problem !== null) process.stderr.write(`${problem}\n`);
process.exitCode = results.every(({ problem }) => problem === null) ? 0 : 1;
