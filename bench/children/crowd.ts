/**
 * Works through an experiment of many runs at a time that ask a model server, and prints what it took. Arguments:
 * folder, cache, how many runs, how many calls at a time. The server is named by the environment.
 */
import { performance } from 'node:perf_hooks';
import { agentByName } from '../../src/agents/index.ts';
import { ModelRegistry, pingModel, systemClock } from '../../src/models/index.ts';
import { makePlan, runExperiment } from '../../src/runs/index.ts';
import { ExperimentFile } from '../../src/schema/index.ts';
import { createExperiment, type Experiment, readTraceSync } from '../../src/store/index.ts';
import type { CrowdLook } from '../crowd.ts';
import { helpersFolder, provision } from '../task-resources.ts';

const [folder = '', cache = '', count = '', cap = ''] = process.argv.slice(2);
const { signal } = new AbortController();
const resources = await provision(cache, signal);
const model = 'anthropic/claude-test-1';
const providers = { anthropic: { concurrent: Number(cap), stall_seconds: 2, attempts: 20 } };
const file = ExperimentFile.parse({
  ...{
    name: 'crowd',
    agents: ['tools'],
    models: [model],
    seeds: Number(count),
    providers,
  },
  ...{ parallel: Number(count), sandbox: 'none', grade: 'none' },
});
const tasks = [{ task: resources.task, verified: resources.prepared.verified }];
const plan = makePlan(file, tasks, [{ agent: agentByName('tools'), options: {} }], 'bench');
const experiment = createExperiment(folder, plan);
const registry = new ModelRegistry({
  ...{ providers, variables: process.env, folder },
  // Shorter waits between tries: they are not what is measured.
  clock: { ...systemClock, random: () => Math.random() / 10 },
});

// A provider's package is loaded with its first call, which takes a tenth of a second, once.
const ping = await pingModel(registry, model, signal);
if (!ping.isAnswered) throw new Error(ping.message);
const watch = watchLoop();
const start = performance.now();
const cpu = process.cpuUsage();
const results = await runExperiment(plan, {
  ...{ experiment, registry, helpersFolder, versions: {}, incomplete: 'continue', signal },
  resources: new Map([[resources.task.file.id, resources]]),
  onProgress: () => {},
});
const { user, system } = process.cpuUsage(cpu);
const seconds = (performance.now() - start) / 1000;
const blocks = watch.stop();
const latencies = results.flatMap(({ spec }) => latenciesOf(experiment, spec.id));
const look: CrowdLook = {
  problems: results.filter(({ record }) => record?.end?.reason !== 'final_answer').length,
  ...{ seconds, cpuSeconds: (user + system) / 1e6, calls: latencies.length, latencies, blocks },
};
process.stdout.write(JSON.stringify(look));

function latenciesOf(from: Experiment, run: string): number[] {
  return readTraceSync(from.runFolder(run).tracePath).events.flatMap((event) =>
    event.kind === 'model_call' ? [event.latency_ms] : [],
  );
}

/**
 * How long the event loop did not come round each time: how much later than it should a timer of every millisecond
 * fires. `monitorEventLoopDelay` tells the same but not each, nor how much of it this thread was at work: the rest is
 * the work of others on the machine, and waiting for the disk.
 */
function watchLoop(): { stop: () => CrowdLook['blocks'] } {
  let longest: CrowdLook['blocks'] = [];
  const cpuNow = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  const shorten = () => {
    longest = longest.sort((one, other) => other.ms - one.ms).slice(0, 100);
    return longest;
  };
  let last = performance.now();
  let lastCpu = cpuNow();
  const timer = setInterval(() => {
    const [now, cpuMs] = [performance.now(), cpuNow()];
    longest.push({ ms: Math.max(0, now - last - 1), cpuMs: cpuMs - lastCpu });
    [last, lastCpu] = [now, cpuMs];
    if (longest.length >= 10_000) shorten();
  }, 1);
  return {
    stop() {
      clearInterval(timer);
      return shorten();
    },
  };
}
