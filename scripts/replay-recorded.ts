/**
 * Feeds recorded runs of the original benchmark to our research agent and compares what it does:
 * `npm run node -- scripts/replay-recorded.ts FOLDER…`. `--help` says more.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Difference } from '../bench/recorded-runs/compare-turns.ts';
import { readRecordedRun } from '../bench/recorded-runs/recorded-run.ts';
import { replayRecorded } from '../bench/recorded-runs/replay-recorded.ts';
import { readWords } from './read-words.ts';
import { isProgram, runScript, SetUpError } from './script.mjs';

const help = `Usage: npm run node -- scripts/replay-recorded.ts [--differences] FOLDER...

Looks in the folders, at any depth, for recorded runs (meta.json, calls.jsonl.gz, trace.json.gz) and leads the agent
research (--profile paper) through each of them: its models answer what they answered then, and so do the actions. What
it does is compared with what was done then, name and arguments. Prints as JSON, for each model:
  runs                   how many there are
  equal                  runs in which all steps are the same
  steps_compared         steps of either side, matched by turn
  steps_equal            steps that are the same
  actions_compared       of these steps, those that the model chose: all but what the agent does for its log
  actions_equal          of these, those that are the same
  differences_by_reason  the others; bench/recorded-runs/compare-turns.ts says what each reason means

  --differences  prints each difference, too, a JSON object a line
  --help         prints this`;

interface Count {
  runs: number;
  equal: number;
  steps_compared: number;
  steps_equal: number;
  actions_compared: number;
  actions_equal: number;
  differences_by_reason: Record<string, number>;
}

async function main(words: string[]): Promise<number> {
  const { values: flags, positionals: folders } = readWords(words, help, {
    help: { type: 'boolean' },
    differences: { type: 'boolean' },
  });
  if (flags.help) {
    console.log(help);
    return 0;
  }
  const found = folders.flatMap(runFolders);
  if (found.length === 0) throw new SetUpError(`No recorded run was found.\n\n${help}`);
  const counts = new Map<string, Count>();
  for (const folder of found) {
    const run = readRecordedRun(folder);
    const { steps, actions, differences } = await replayRecorded(run);
    const count = counts.get(run.model) ?? emptyCount();
    counts.set(run.model, count);
    count.runs += 1;
    count.steps_compared += steps;
    count.steps_equal += steps - differences.length;
    count.actions_compared += actions;
    count.actions_equal += actions - differences.filter(({ place }) => place === 'action').length;
    if (differences.length === 0) count.equal += 1;
    for (const difference of differences) {
      const { reason } = difference;
      count.differences_by_reason[reason] = (count.differences_by_reason[reason] ?? 0) + 1;
      if (flags.differences) showDifference(folder, difference);
    }
  }
  console.log(JSON.stringify(Object.fromEntries(counts), null, 2));
  return 0;
}

function runFolders(folder: string): string[] {
  if (!existsSync(folder)) throw new SetUpError(`There is no folder ${folder}.`);
  if (existsSync(join(folder, 'calls.jsonl.gz'))) return [folder];
  const inner = readdirSync(folder).toSorted();
  return inner
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isDirectory())
    .flatMap(runFolders);
}

function emptyCount(): Count {
  const steps = { steps_compared: 0, steps_equal: 0, actions_compared: 0, actions_equal: 0 };
  return { runs: 0, equal: 0, ...steps, differences_by_reason: {} };
}

function showDifference(folder: string, { reason, turn, recorded, ours }: Difference): void {
  console.log(JSON.stringify({ run: folder, turn, reason, recorded, ours }));
}

if (isProgram(import.meta.url)) await runScript(main);
