import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { startProviderServer } from '../test/fakes/providers/index.ts';
import { type ProgramOptions, printedBy, runCommand } from '../test/fixtures/outside/outside-place.ts';
import { type Benchmark, type Measurement, median, quantile } from './benchmark.ts';
import { provision, requireSandbox } from './task-resources.ts';

const program = join(import.meta.dirname, 'children/turns.py');
const Times = z.array(z.number());

export const turn: Benchmark = {
  name: 'turn',
  summary: 'what a turn of an agent that is a program costs: its step, its snapshot, and the gateway',
  async measure({ quick, scratch, cache, log, signal }) {
    await requireSandbox();
    const resources = await provision(cache, signal);
    await using server = await startProviderServer({
      answer: ({ number }) => ({ toolCalls: [{ id: `call_${number}`, name: 'bash', input: '{}' }] }),
    });
    const turns = quick ? 5 : 100;
    const measured: Measurement[] = [];
    for (const files of [5, 1000]) {
      log(`${turns} turns in a workspace of ${files} files`);
      const straight = await withoutHarness(
        server.baseUrls.openai,
        join(scratch, `plain-${files}`),
        files,
        turns,
      );
      const place = { experiments: join(scratch, `runs-${files}`), resources, server, signal };
      measured.push(...measurementsOf(files, straight, await inRun(place, files, turns)));
    }
    return measured;
  },
};

function measurementsOf(
  files: number,
  straight: readonly number[],
  through: readonly number[],
): Measurement[] {
  const more = (share: number) => quantile(through, share) - quantile(straight, share);
  return [
    {
      ...{ what: `a turn in a workspace of ${files} files`, value: more(0.5), unit: 'ms', atMost: 20 },
      note: `median of ${through.length}, beyond the same request straight to the server (${median(straight).toFixed(1)} ms)`,
    },
    {
      ...{ what: 'its 95th percentile', value: more(0.95), unit: 'ms', atMost: null },
      note: 'one file is changed in each turn',
    },
  ];
}

async function withoutHarness(url: string, folder: string, files: number, turns: number): Promise<number[]> {
  mkdirSync(folder);
  const words = [program, url, 'no-key', 'gpt-5', files, turns].map(String);
  const { stdout } = await promisify(execFile)('python3', words, { cwd: folder });
  return timesIn(stdout);
}

async function inRun(place: ProgramOptions, files: number, turns: number): Promise<number[]> {
  const command = `python ${program} $OPENAI_BASE_URL $OPENAI_API_KEY $MLAB_MODEL ${files} ${turns}`;
  const changes = { limits: { steps: turns + 10 } };
  const { record, folder } = await runCommand({ ...place, command, changes });
  if (record.steps < turns)
    throw new Error(`the run had ${record.steps} steps: ${record.end?.message ?? ''}`);
  return timesIn(printedBy(folder));
}

/** Without the first request, which has the start-up cost of all. */
function timesIn(printed: string): number[] {
  return Times.parse(JSON.parse(printed)).slice(1);
}
