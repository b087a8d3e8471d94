/**
 * Executes an experiment of many concurrent runs that call a model server, and prints the cost. After its first step
 * the workspace of the first run is filled with files. Argument: `LoadOptions`. The environment names the server.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { agentByName } from '../../src/agents/index.ts';
import { ModelRegistry, pingModel } from '../../src/models/index.ts';
import { makePlan, runExperiment } from '../../src/runs/index.ts';
import { ExperimentFile } from '../../src/schema/index.ts';
import { createExperiment, readTraceSync, stepsOf } from '../../src/store/index.ts';
import { type LoadMeasurement, LoadOptions } from '../many.ts';
import { helpersFolder, provision } from '../task-resources.ts';

const options = LoadOptions.parse(JSON.parse(process.argv[2] ?? ''));
const { folder, runs, largeFiles } = options;
const { signal } = new AbortController();
const resources = await provision(options.cache, signal);
const model = 'anthropic/claude-test-1';
// A call never waits for another.
const providers = { anthropic: { concurrent: runs } };
const file = ExperimentFile.parse({
  ...{ name: 'many', agents: ['tools'], models: [model], seeds: runs, providers },
  ...{ parallel: runs, sandbox: 'none', grade: 'none' },
});
const tasks = [{ task: resources.task, verified: resources.prepared.verified }];
const plan = makePlan(file, tasks, [{ agent: agentByName('tools'), options: {} }], 'bench');
const large = plan.runs[0];
if (large !== undefined) large.limits.workspace_mb = 1_000;
const experiment = createExperiment(folder, plan);
const registry = new ModelRegistry({ providers, variables: process.env, folder });
const prefilled = join(folder, 'prefilled');
fill(prefilled, largeFiles);
// Otherwise the kernel writes these files in the middle of what is measured.
if (largeFiles > 0) execFileSync('sync');

// A provider's package is loaded with its first call, which takes a tenth of a second, once.
const ping = await pingModel(registry, model, signal);
if (!ping.isAnswered) throw new Error(ping.message);
const watch = watchLoop();
const start = performance.now();
const [cpu, mainCpu] = [process.cpuUsage(), process.threadCpuUsage()];
let othersEnd = start;
const results = await runExperiment(plan, {
  ...{ experiment, registry, helpersFolder, versions: {}, incomplete: 'continue', signal },
  resources: new Map([[resources.task.file.id, resources]]),
  onProgress: (progress) => {
    if (progress.kind === 'run_ended' && (largeFiles === 0 || progress.run.id !== large?.id))
      othersEnd = performance.now();
    if (largeFiles === 0 || progress.kind !== 'run_step' || progress.run.id !== large?.id) return;
    if (progress.progress.kind !== 'step_finished' || progress.progress.step !== 1) return;
    const place = join(experiment.runFolder(progress.run.id).folder, 'workspace/large');
    // A program that copies them would keep one processor busy for as long as all that is measured here.
    renameSync(prefilled, place);
  },
});
const measured: LoadMeasurement = {
  problems: results.filter(({ record }) => record?.end?.reason !== 'final_answer').length,
  ...{
    seconds: (othersEnd - start) / 1000,
    cpuSeconds: total(process.cpuUsage(cpu)),
    mainCpuSeconds: total(process.threadCpuUsage(mainCpu)),
  },
  ...watch.stop(),
  ...figuresOf(),
  peakBytes: process.resourceUsage().maxRSS * 1024,
};
process.stdout.write(JSON.stringify(measured));

/** Files of some hundred bytes with different contents, a hundred per folder. */
function fill(place: string, count: number): void {
  for (let number = 0; number < count; number++) {
    const inner = join(place, `part-${Math.floor(number / 100)}`);
    if (number % 100 === 0) mkdirSync(inner, { recursive: true });
    writeFileSync(join(inner, `${number}.txt`), `${number} `.repeat(40));
  }
}

function figuresOf(): Pick<LoadMeasurement, 'calls' | 'overheads' | 'largeOverheads'> {
  const figures = { calls: 0, overheads: [] as number[], largeOverheads: [] as number[] };
  for (const { id } of plan.runs) {
    const { events } = readTraceSync(experiment.runFolder(id).tracePath);
    const isLarge = largeFiles > 0 && id === large?.id;
    const overheads = stepsOf(events).map(({ finished }) => finished.overhead_ms);
    if (!isLarge) {
      figures.calls += events.filter(({ kind }) => kind === 'model_call').length;
      figures.overheads.push(...overheads);
    }
    // By then all files exist and have been read.
    else figures.largeOverheads.push(...overheads.slice(Math.floor(overheads.length / 2)));
  }
  return figures;
}

function total({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1e6;
}

/**
 * How long the event loop was blocked each time, how much of that this thread was working (the rest is other load and
 * waiting for the disk), and the delay as Node measures it.
 */
function watchLoop(): { stop: () => Pick<LoadMeasurement, 'blocks' | 'delayP99'> } {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  let longest: LoadMeasurement['blocks'] = [];
  const cpuNow = () => 1000 * total(process.threadCpuUsage());
  const shorten = () => {
    longest = longest.sort((one, other) => other.ms - one.ms).slice(0, 100);
    return longest;
  };
  const begin = performance.now();
  let last = begin;
  let lastCpu = cpuNow();
  const timer = setInterval(() => {
    const [now, cpuMs] = [performance.now(), cpuNow()];
    longest.push({ ms: Math.max(0, now - last - 1), cpuMs: cpuMs - lastCpu, at: (last - begin) / 1000 });
    [last, lastCpu] = [now, cpuMs];
    if (longest.length >= 10_000) shorten();
  }, 1);
  return {
    stop() {
      clearInterval(timer);
      histogram.disable();
      return { blocks: shorten(), delayP99: histogram.percentile(99) / 1e6 - 1 };
    },
  };
}
