import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf, UserError } from '../src/lib/errors.ts';
import { removeTree } from '../src/lib/read-only-tree.ts';
import { SandboxError } from '../src/sandbox/index.ts';

import type { BenchContext, Benchmark } from './benchmark.ts';
import { calls } from './calls.ts';
import { fleet } from './fleet.ts';
import { fleetList } from './fleet-list.ts';
import { fork } from './fork.ts';
import { gateway } from './gateway.ts';
import { help } from './help.ts';
import { inspect } from './inspect.ts';
import { kill } from './kill.ts';
import { describeMachine } from './machine.ts';
import { malformed } from './malformed.ts';
import { many } from './many.ts';
import { noop } from './noop.ts';
import { pages } from './pages.ts';
import { python } from './python.ts';
import { regrade } from './regrade.ts';
import { allMet, type BenchmarkResult, type Report, reportText } from './report.ts';
import { reports } from './reports.ts';
import { sandbox } from './sandbox.ts';
import { search } from './search.ts';
import { slurm } from './slurm.ts';
import { snapshot } from './snapshot.ts';
import { step } from './step.ts';
import { stop } from './stop.ts';
import { tree } from './tree.ts';
import { turn } from './turn.ts';
import { viewer } from './viewer.ts';

const benchmarks: readonly Benchmark[] = [
  step,
  calls,
  gateway,
  turn,
  snapshot,
  fork,
  malformed,
  noop,
  help,
  python,
  many,
  kill,
  fleet,
  fleetList,
  reports,
  inspect,
  viewer,
  pages,
  regrade,
  search,
  tree,
  sandbox,
  stop,
  slurm,
];

/** All targets met; some target missed; wrong usage; something could not be measured here. */
const exitCodes = { met: 0, missed: 1, usage: 2, missing: 3 } as const;

const usage = `npm run bench -- [names] [--json] [--quick] [--kills N] [--seed N] [--scratch folder]

${benchmarks.map(({ name, summary }) => `  ${name.padEnd(10)} ${summary}`).join('\n')}

  --json     one JSON document on standard output
  --quick    a short version that only shows that everything works
  --kills N  of kill: how many; default 2,000
  --seed N   of kill: what its moments are drawn from; default 1
  --scratch  where to measure; default: a new folder in the system's folder for temporary files

Exit codes: 0 all targets met, 1 a target missed, 2 wrong usage, 3 something could not be measured on this machine.`;

process.exitCode = await main(process.argv.slice(2));

async function main(argv: string[]): Promise<number> {
  const asked = parse(argv);
  if ('problem' in asked) {
    process.stderr.write(`${asked.problem}\n\n${usage}\n`);
    return exitCodes.usage;
  }
  if (asked.help) {
    process.stdout.write(`${usage}\n`);
    return exitCodes.met;
  }
  const scratch = mkdtempSync(join(asked.scratch, 'mlab-bench-'));
  try {
    const report = await measureAll(asked, scratch);
    process.stdout.write(`${asked.json ? JSON.stringify(report, null, 2) : reportText(report)}\n`);
    if (report.benchmarks.some(({ missing }) => missing !== null)) return exitCodes.missing;
    return allMet(report) ? exitCodes.met : exitCodes.missed;
  } finally {
    removeTree(scratch);
  }
}

function parse(argv: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        kills: { type: 'string' },
        seed: { type: 'string' },
        scratch: { type: 'string', default: tmpdir() },
      },
    });
    const unknown = positionals.find((name) => !benchmarks.some((benchmark) => benchmark.name === name));
    if (unknown !== undefined) return { problem: `There is no benchmark "${unknown}".` };
    const chosen = benchmarks.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
    const kills = wholeNumber('kills', values.kills);
    const seed = wholeNumber('seed', values.seed);
    return { ...values, kills, seed, chosen };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

function wholeNumber(flag: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (/^[1-9]\d*$/.test(given)) return Number(given);
  throw new Error(`--${flag} takes a whole number from 1.`);
}

interface Asked extends Pick<BenchContext, 'quick' | 'kills' | 'seed'> {
  chosen: readonly Benchmark[];
}

async function measureAll({ chosen, quick, kills, seed }: Asked, scratch: string): Promise<Report> {
  const interrupt = new AbortController();
  process.once('SIGINT', () => interrupt.abort(new Error('stopped by Ctrl-C')));
  const machine = describeMachine(scratch);
  const results: BenchmarkResult[] = [];
  for (const benchmark of chosen) {
    const own = join(scratch, benchmark.name);
    mkdirSync(own);
    results.push(
      await measureOne(benchmark, {
        ...{ quick, kills, seed },
        scratch: own,
        cache: join(scratch, 'cache'),
        log: (line) => process.stderr.write(`${benchmark.name}: ${line}\n`),
        signal: interrupt.signal,
      }),
    );
    removeTree(own);
  }
  return { machine, quick, benchmarks: results };
}

async function measureOne(benchmark: Benchmark, context: BenchContext): Promise<BenchmarkResult> {
  const start = performance.now();
  const seconds = () => Math.round((performance.now() - start) / 100) / 10;
  const { name } = benchmark;
  context.log(benchmark.summary);
  try {
    const measurements = await benchmark.measure(context);
    return { name, seconds: seconds(), measurements, missing: null };
  } catch (error) {
    if (!UserError.isInstance(error) && !SandboxError.isInstance(error)) throw error;
    return { name, seconds: seconds(), measurements: [], missing: `${error.message} ${error.hint}` };
  }
}
