/** `npm start`: sets up, then lets the automl agent work on the starter suite. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { handOver } from './hand-over.mjs';
import { packageRoot } from './project-node.mjs';
import { isProgram, runScript, say } from './script.mjs';
import { setUp } from './setup.mjs';

const flags = [
  '--suite',
  'starter',
  '--agent',
  'automl',
  '--seeds',
  '2',
  '--parallel',
  '2',
  '--wall-seconds',
  '25',
];

async function start(extraFlags) {
  const { node } = setUp();
  const experiments = join(packageRoot, 'experiments');
  const named = extraFlags.some((flag) => flag === '--name' || flag.startsWith('--name='));
  const name = named ? [] : ['--name', firstUnfinished(experiments)];
  const argv = [join(packageRoot, 'bin/mlab.mjs'), 'run', ...flags, ...name, ...extraFlags];
  const { code, signal } = await handOver(node.path, argv, { cwd: packageRoot });
  if (code === 0) sayHowToGoOn(name[1]);
  if (signal !== null) process.kill(process.pid, signal);
  return code ?? 1;
}

/** `start-1`, `start-2`, …: the first that is not over, so that an interrupted start goes on and the next is a new one. */
export function firstUnfinished(experiments) {
  for (let number = 1; ; number++) {
    const name = `start-${number}`;
    if (!isOver(join(experiments, name))) return name;
  }
}

/** Whether every run of the plan has ended. A folder without a readable plan counts as not begun. */
function isOver(folder) {
  const plan = readJson(join(folder, 'plan.json'));
  if (!Array.isArray(plan?.runs)) return false;
  const ended = ['finished', 'failed'];
  return plan.runs.every(({ id }) => ended.includes(readJson(join(folder, 'runs', id, 'run.json'))?.status));
}

/** Null where it is missing or broken: then the experiment counts as not over, and mlab says what is wrong with it. */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

function sayHowToGoOn(name) {
  if (name === undefined) return;
  say(`
Where to look further:
  npx mlab runs ls              all runs, with their scores
  npx mlab runs show RUN        every step of one of them
  npx mlab report ${name.padEnd(14)}the table above again
  npx mlab --help               everything else
The files lie in experiments/${name}/.`);
}

if (isProgram(import.meta.url)) await runScript(start);
