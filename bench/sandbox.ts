import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createSandbox, type Sandbox, type SandboxSpec } from '../src/sandbox/index.ts';
import { type BenchContext, type Benchmark, type Measurement, median, quantile } from './benchmark.ts';
import { inspectSide, mlabSide, type Side } from './inspect/sides.ts';
import { machineCpuMs } from './machine.ts';
import { sideBySide } from './side-by-side.ts';

const mebibyte = 2 ** 20;
const command = ['/bin/sh', '-c', 'echo hello'] as const;

interface Sizes {
  commands: number;
  sandboxes: number;
  steps: { many: number; atMostTimes: number }[];
  concurrent: { runs: number; steps: number };
  rounds: number;
}

const whole: Sizes = {
  commands: 200,
  sandboxes: 20,
  steps: [
    { many: 50, atMostTimes: 1 },
    { many: 500, atMostTimes: 0.5 },
  ],
  concurrent: { runs: 100, steps: 20 },
  rounds: 3,
};
const short: Sizes = {
  commands: 5,
  sandboxes: 2,
  steps: [{ many: 5, atMostTimes: 1 }],
  concurrent: { runs: 3, steps: 3 },
  rounds: 1,
};

export const sandbox: Benchmark = {
  name: 'sandbox',
  summary:
    'confined commands: beside plain ones, and steps and many runs beside Inspect AI, which confines nothing',
  async measure(context) {
    const sizes = context.quick ? short : whole;
    const own = await commandsOf(context, sizes);
    const both = { ours: await mlabSide(context), theirs: await inspectSide(context) };
    const steps: Measurement[] = [];
    for (const { many, atMostTimes } of sizes.steps) {
      const timed = await inTurns(both, sizes.rounds, (side, round) => eachStep(side, many, round));
      const what = `a step with a command, of a run of ${many}`;
      steps.push(
        ...sideBySide({ what, unit: 'ms' }, timed, atMostTimes, { ours: 'in bubblewrap', theirs: 'local' }),
      );
    }
    return [...own, ...steps, ...(await manyRuns(both, sizes))];
  },
};

/** Confined and plain commands alternate, so that other load of the machine affects both equally. */
async function commandsOf({ scratch }: BenchContext, { commands, sandboxes }: Sizes): Promise<Measurement[]> {
  const spec = specIn(join(scratch, 'commands'));
  const [plain, confined, started, first]: number[][] = [[], [], [], []];
  {
    await using box = await createSandbox('bubblewrap', spec);
    await confinedCommand(box);
    for (let count = 0; count < commands; count++) {
      plain?.push(await timed(plainCommand));
      confined?.push(await timed(() => confinedCommand(box)));
    }
  }
  for (let count = 0; count < sandboxes; count++) {
    const start = performance.now();
    await using box = await createSandbox('bubblewrap', spec);
    started?.push(performance.now() - start);
    first?.push(await timed(() => confinedCommand(box)));
  }
  const common = { unit: 'ms', atMost: null };
  const most = (values: readonly number[] = []) => `95 of 100 within ${quantile(values, 0.95).toFixed(1)} ms`;
  return [
    { what: 'a plain command', value: median(plain ?? []), ...common, note: `of Node's; ${most(plain)}` },
    {
      ...{ what: 'a confined command, beyond a plain one', unit: 'ms', atMost: 4 },
      value: median(confined ?? []) - median(plain ?? []),
      note: `medians of ${commands}, in turns; confined ${median(confined ?? []).toFixed(1)} ms, ${most(confined)}`,
    },
    { what: 'making a sandbox', value: median(started ?? []), ...common, note: 'without a command' },
    {
      what: 'the first command in it',
      value: median(first ?? []),
      ...common,
      note: 'with what serves the later ones',
    },
  ];
}

async function manyRuns(
  both: { ours: Side; theirs: Side },
  { concurrent, rounds }: Sizes,
): Promise<Measurement[]> {
  const cpu = { ours: [] as number[], theirs: [] as number[] };
  const wall = await inTurns(both, rounds, async (side, round) => {
    const [start, used] = [performance.now(), machineCpuMs()];
    const { runs, steps } = concurrent;
    await side.make(`concurrent-${round}`, {
      runs,
      steps,
      distinct: runs,
      atOnce: runs,
      sandbox: 'bubblewrap',
    });
    cpu[side === both.ours ? 'ours' : 'theirs'].push((machineCpuMs() - used) / 1000);
    return (performance.now() - start) / 1000;
  });
  const what = `${concurrent.runs} runs at once of ${concurrent.steps} steps`;
  const used = { ours: median(cpu.ours), theirs: median(cpu.theirs) };
  return [
    ...sideBySide({ what, unit: 's' }, wall, 0.8, { ours: 'in bubblewrap', theirs: 'local' }),
    ...sideBySide({ what: `processor time of ${what}`, unit: 's' }, used, 0.8, {
      ours: 'of all that ran on the machine',
      theirs: '',
    }),
  ];
}

/** Medians of both, measured alternately. */
async function inTurns(
  { ours, theirs }: { ours: Side; theirs: Side },
  rounds: number,
  measure: (side: Side, round: number) => Promise<number>,
): Promise<{ ours: number; theirs: number }> {
  const [own, other]: [number[], number[]] = [[], []];
  for (let round = 1; round <= rounds; round++) {
    own.push(await measure(ours, round));
    other.push(await measure(theirs, round));
  }
  return { ours: median(own), theirs: median(other) };
}

async function eachStep(side: Side, steps: number, round: number): Promise<number> {
  const wanted = { runs: 1, steps, distinct: 1, sandbox: 'bubblewrap' } as const;
  const { seconds } = await side.make(`steps-${steps}-${round}`, wanted);
  return (1000 * seconds) / steps;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function plainCommand(): Promise<void> {
  const [program, ...rest] = command;
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stderr.resume();
  await once(child, 'close');
}

async function confinedCommand(box: Sandbox): Promise<void> {
  const process = await box.start(command, {
    stdin: 'none',
    onOutput: () => {},
    timeoutMs: null,
    signal: null,
  });
  await process.ended;
}

function specIn(folder: string): SandboxSpec {
  mkdirSync(folder);
  return {
    mounts: [{ source: folder, target: '/workspace', access: 'write' }],
    ...{ hide: [], withheld: [], concealed: [], workingDirectory: '/workspace', variables: {}, python: null },
    limits: {
      ...{ memoryBytes: 256 * mebibyte, processes: 40, fileBytes: 64 * mebibyte },
      temporaryBytes: 16 * mebibyte,
    },
    watch: { folder, maxBytes: 128 * mebibyte },
  };
}
