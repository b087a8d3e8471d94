/**
 * Executes recorded runs of the task house-price again, on its real data:
 * `npm run node -- scripts/replay-house-price.ts --mirror FOLDER RUN…`. `--help` says more.
 */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { housePriceInOriginalLayout } from '../bench/recorded-runs/original-layout.ts';
import { readRecordedRun } from '../bench/recorded-runs/recorded-run.ts';
import { type RealReplay, replayForReal } from '../bench/recorded-runs/replay-for-real.ts';
import { requireSandbox } from '../bench/task-resources.ts';
import { cacheFolder } from '../src/lib/cache-folder.ts';
import { removeTree } from '../src/lib/read-only-tree.ts';
import { readWords } from './read-words.ts';
import { isProgram, runScript, SetUpError } from './script.mjs';

const help = `Usage: npm run node -- scripts/replay-house-price.ts --mirror FOLDER RUN...

Each RUN is the folder of a recorded run of the original's task house-price. The agent research (--profile paper) is led
through it: its models, and the editor, say what they said then. All else is real: our actions save the edits, the
scripts run in the sandbox with the task's Python, and our grader scores what they wrote. Prints a JSON list:
  run, end, steps, recorded_steps
  scripts             Python files of the final workspace that are as recorded (same), and those that are not (other)
  score               mean absolute error of the submission
  recorded_score      of the recorded submission, by our grader
  largest_difference  of a prediction, relative to the recorded one

  --mirror  folder with house-price/home-data-for-ml-course.zip
  --help    prints this`;

async function main(words: string[]): Promise<number> {
  const { values: flags, positionals: runs } = readWords(words, help, {
    help: { type: 'boolean' },
    mirror: { type: 'string' },
  });
  if (flags.help) {
    console.log(help);
    return 0;
  }
  if (flags.mirror === undefined || runs.length === 0)
    throw new SetUpError(`Something is missing.\n\n${help}`);
  await requireSandbox();
  const scratch = mkdtempSync(join(tmpdir(), 'mlab-replay-'));
  try {
    const replays: RealReplay[] = [];
    for (const [index, folder] of runs.entries()) {
      const place = join(scratch, String(index));
      mkdirSync(place);
      replays.push(await replay(folder, flags.mirror, place));
    }
    console.log(JSON.stringify(replays, null, 2));
    return 0;
  } finally {
    removeTree(scratch);
  }
}

async function replay(folder: string, mirror: string, scratch: string): Promise<RealReplay> {
  const run = readRecordedRun(folder);
  const { signal } = new AbortController();
  const resources = await housePriceInOriginalLayout(run, {
    ...{ cache: cacheFolder(process.env), mirror, scratch, signal },
    onProgress: (message) => console.error(message),
  });
  return replayForReal({ run, resources, folder: join(scratch, 'experiments'), signal });
}

if (isProgram(import.meta.url)) await runScript(main);
