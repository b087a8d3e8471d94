/** `npm start`: sets up, then runs the automl agent and the starter on the starter suite. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endAs, handOver } from './hand-over.mjs';
import { packageRoot } from './project-node.mjs';
import { isProgram, runScript, say } from './script.mjs';
import { setUp } from './setup.mjs';

/** The default flags of `mlab run`. A fresh clone should finish within two minutes, including set-up. */
const defaults = {
  '--suite': 'starter',
  '--agent': 'baseline,automl',
  '--seeds': '2',
  '--parallel': '2',
  '--wall-seconds': '30',
};

const introduction = [
  'Now two agents work on three small tasks, twice each: `baseline` runs the code it is given, `automl` improves it.',
  'The tasks get their Python packages first: about 80 MB to download, once.',
].join('\n');

async function start(extraFlags) {
  // What only development needs is installed by what needs it.
  const { node } = await setUp({ production: true });
  const name = firstUnfinished(join(packageRoot, 'experiments'));
  const given = (flag) => extraFlags.some((extra) => extra === flag || extra.startsWith(`${flag}=`));
  const isReplaced = (flag) => given(flag) || (flag === '--suite' && given('--task'));
  const flags = Object.entries({ ...defaults, '--name': name }).filter(([flag]) => !isReplaced(flag));
  if (name === 'start-1' && extraFlags.length === 0) say(introduction);
  const argv = [join(packageRoot, 'bin/mlab.mjs'), 'run', ...flags.flat(), ...extraFlags];
  const end = await handOver(node.path, argv, { cwd: packageRoot });
  if (end.code === 0) say('Which one is better, and why, step by step, in the browser: npx mlab view');
  endAs(end);
  return end.code ?? 1;
}

/**
 * `start-1`, `start-2`, …: the first that is not finished or not graded, so that an interrupted start resumes and the
 * next is a new one.
 */
export function firstUnfinished(experiments) {
  for (let number = 1; ; number++) {
    const name = `start-${number}`;
    if (!isOver(join(experiments, name))) return name;
  }
}

/** Whether every run of the plan has failed or is graded. A folder without a readable plan counts as not begun. */
function isOver(folder) {
  const plan = readJson(join(folder, 'plan.json'));
  if (!Array.isArray(plan?.runs)) return false;
  return plan.runs.every(({ id }) => {
    const run = join(folder, 'runs', id);
    const status = readJson(join(run, 'run.json'))?.status;
    return status === 'failed' || (status === 'finished' && (plan.grade === 'none' || hasFinalGrade(run)));
  });
}

function hasFinalGrade(run) {
  const grades = readText(join(run, 'grades.jsonl'))?.split('\n') ?? [];
  return grades.some((line) => parsed(line)?.final === true);
}

/** Null if it is missing or broken: then the experiment counts as unfinished, and mlab reports the problem. */
function readJson(path) {
  return parsed(readText(path));
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

if (isProgram(import.meta.url)) await runScript(start);
