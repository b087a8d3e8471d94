import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import {
  ExperimentList,
  ExperimentPage,
  LiveEvent,
  RunPage,
  StepDiff,
  StepPage,
  Timeline,
} from '../src/schema/index.ts';
import { type Benchmark, type Measurement, median, quantile } from './benchmark.ts';
import { appendStep, generateExperiments, generateLongRun, type LongRun } from './generated-viewer-store.ts';

const Started = z.object({ port: z.int() });
const Memory = z.object({ peakBytes: z.number() });

const long = '/api/experiments/long/runs/digits-research-0';

export const viewer: Benchmark = {
  name: 'viewer',
  summary: 'the viewer: thousands of runs, a run of 20,000 steps, and one that goes on',
  async measure({ quick, scratch, log }) {
    const [experiments, runs, steps] = quick ? [4, 20, 200] : [40, 250, 20_000];
    log(`generating ${experiments * runs} runs`);
    await generateExperiments(join(scratch, 'many'), experiments, runs);
    log(`generating a run of ${steps} steps`);
    const run = generateLongRun(join(scratch, 'long'), steps);
    const many = `${experiments * runs} runs in ${experiments} experiments`;
    const one = `${steps} steps, ${run.events} events, ${(statSync(run.run.tracePath).size / 1e6).toFixed(0)} MB`;
    try {
      return [
        ...(await measureMany(join(scratch, 'many'), experiments, many, log)),
        ...(await measureLong(join(scratch, 'long'), run, steps, one, log)),
      ];
    } finally {
      await run.trace.close();
    }
  },
};

type Log = (line: string) => void;

async function measureMany(
  folder: string,
  experiments: number,
  size: string,
  log: Log,
): Promise<Measurement[]> {
  log('the list of experiments');
  await using server = await start(folder);
  const begun = performance.now();
  const first = await server.get('/api/experiments', ExperimentList);
  const firstSeconds = secondsSince(begun);
  if (first.experiments.length === 0) throw new Error('the first answer had no rows');
  for (let isRead = false; !isRead; ) {
    const { experiments: lines } = await server.get('/api/experiments', ExperimentList);
    isRead = lines.length === experiments && lines.every(({ state }) => state !== 'reading');
  }
  const allSeconds = secondsSince(begun);
  const [page] = await server.timed('/api/experiments/generated', ExperimentPage);
  const peak = await server.peakBytes();
  return [
    measured(
      'first rows of the list of experiments',
      firstSeconds,
      's',
      1,
      `${size}; ${first.experiments.length} rows`,
    ),
    measured('all runs read', allSeconds, 's', null, 'meanwhile the rows say what is still being read'),
    measured('an experiment with its runs', page, 'ms', null, ''),
    measured("the server's memory", peak, 'bytes', 250e6, 'at most at any time'),
  ];
}

async function measureLong(
  folder: string,
  run: LongRun,
  steps: number,
  size: string,
  log: Log,
): Promise<Measurement[]> {
  log('a long run');
  await using server = await start(folder);
  const [openMs] = await server.timed(long, RunPage);
  const [timelineMs] = await server.timed(`${long}/timeline`, Timeline);
  const times: number[] = [];
  for (let count = 0; count < 100; count++) {
    const step = 1 + ((count * 7919) % steps);
    const [ms, page] = await server.timed(`${long}/steps/${step}`, StepPage);
    if (page.step !== step || page.observation === null) throw new Error(`step ${step} is not there`);
    times.push(ms);
  }
  const diffs: number[] = [];
  for (let count = 0; count < 20; count++) {
    const [ms] = await server.timed(`${long}/steps/${1 + ((count * 104_729) % steps)}/diff`, StepDiff);
    diffs.push(ms);
  }
  log('a step of a run that goes on');
  const live = await liveTimes(server, run, steps);
  const peak = await server.peakBytes();
  await using again = await start(folder);
  const [againMs] = await again.timed(long, RunPage);
  const p95 = (values: readonly number[]) => quantile(values, 0.95);
  return [
    measured(
      'opening a long run for the first time',
      (openMs + timelineMs) / 1000,
      's',
      1,
      `${size}; its page and its timeline`,
    ),
    measured('the same in a new server', againMs / 1000, 's', 1, 'with the index of its trace'),
    measured(
      'any step of it, 95th percentile',
      p95(times),
      'ms',
      150,
      `of 100; median ${median(times).toFixed(1)} ms`,
    ),
    measured(
      'its diff to the step before, 95th percentile',
      p95(diffs),
      'ms',
      null,
      `of 20; median ${median(diffs).toFixed(1)} ms`,
    ),
    measured(
      'a step of a run that goes on, 95th percentile',
      p95(live),
      'ms',
      300,
      `of ${live.length}, from the trace to the page; median ${median(live).toFixed(0)} ms`,
    ),
    measured(
      "the server's memory",
      peak,
      'bytes',
      250e6,
      'at most at any time; the run is evaluated in another process meanwhile',
    ),
  ];
}

/** From when a step is in the trace until a page receives it. */
async function liveTimes({ port }: Server, run: LongRun, steps: number): Promise<number[]> {
  const abort = new AbortController();
  const url = `http://127.0.0.1:${port}/api/live?experiment=long&run=digits-research-0`;
  const response = await fetch(url, { signal: abort.signal });
  const waiting = new Map<number, (at: number) => void>();
  const listening = (async () => {
    let rest = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const at = performance.now();
      const blocks = (rest + chunk).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const data of blocks.flatMap((block) => /^data: (.*)$/m.exec(block)?.[1] ?? [])) {
        const event = LiveEvent.parse(JSON.parse(data));
        if (event.kind !== 'steps') continue;
        for (const [step, hear] of waiting) if (event.timeline.total >= step) hear(at);
      }
    }
  })().catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const times: number[] = [];
  for (let step = steps + 1; step <= steps + 20; step++) {
    const heard = new Promise<number>((resolve) => waiting.set(step, resolve));
    appendStep(run, step);
    const written = performance.now();
    times.push(Math.max(0, (await heard) - written));
    waiting.delete(step);
    await new Promise((resolve) => setTimeout(resolve, 40 + (step % 7) * 30));
  }
  abort.abort();
  await listening;
  return times;
}

class Server implements AsyncDisposable {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(child: ChildProcess, lines: AsyncIterator<string>, port: number) {
    this.#child = child;
    this.#lines = lines;
    this.port = port;
  }

  async get<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.output<Schema>> {
    return schema.parse(JSON.parse(await this.#text(path)));
  }

  /** Milliseconds until the whole reply has arrived, and its content. */
  async timed<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
  ): Promise<[ms: number, page: z.output<Schema>]> {
    const begun = performance.now();
    const text = await this.#text(path);
    const ms = performance.now() - begun;
    return [ms, schema.parse(JSON.parse(text))];
  }

  async peakBytes(): Promise<number> {
    this.#child.stdin?.write('\n');
    const { value } = await this.#lines.next();
    return Memory.parse(JSON.parse(String(value))).peakBytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'close');
    this.#child.stdin?.end();
    await ended;
  }

  async #text(path: string): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path}: ${text}`);
    return text;
  }
}

async function start(folder: string): Promise<Server> {
  const program = join(import.meta.dirname, 'children/serve-viewer.ts');
  const child = spawn(process.execPath, [program, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value } = await lines.next();
  return new Server(child, lines, Started.parse(JSON.parse(String(value))).port);
}

function secondsSince(begun: number): number {
  return (performance.now() - begun) / 1000;
}

function measured(
  what: string,
  value: number,
  unit: string,
  atMost: number | null,
  note: string,
): Measurement {
  return { what, value, unit, atMost, note };
}
