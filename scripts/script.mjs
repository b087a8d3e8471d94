import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Prints one progress line, to stderr, so that standard output has only results. */
export function say(line) {
  erase();
  process.stderr.write(`${line}\n`);
  draw();
}

/** What is under way now: functions that return their progress. */
const underWay = new Set();
let began = 0;
let timer;
let isDrawn = false;

/** Does `work` and shows its progress: at a terminal in one self-updating line, else in a line now and then. */
export async function withProgress(howFar, work) {
  if (underWay.size === 0) {
    began = performance.now();
    timer = process.stderr.isTTY ? setInterval(draw, 200) : setInterval(() => say(progressLine()), 5_000);
  }
  underWay.add(howFar);
  try {
    return await work();
  } finally {
    erase();
    underWay.delete(howFar);
    if (underWay.size === 0) clearInterval(timer);
  }
}

function progressLine() {
  const parts = [...underWay].map((howFar) => howFar());
  return `  ${parts.join(', ')} … ${Math.floor((performance.now() - began) / 1000)} s`;
}

function draw() {
  if (!process.stderr.isTTY || underWay.size === 0) return;
  erase();
  process.stderr.write(progressLine().slice(0, (process.stderr.columns || 80) - 1));
  isDrawn = true;
}

function erase() {
  if (isDrawn) process.stderr.write('\r\u001b[K');
  isDrawn = false;
}

/** Seconds since `start` (of `performance.now()`), such as `12.3 s`. */
export function secondsSince(start) {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}

/** A problem that a person can fix: shown without a stack. */
export class SetUpError extends Error {
  name = 'SetUpError';
}

/** Runs a script's main part; a SetUpError ends it with its message alone. */
export async function runScript(main) {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof SetUpError)) throw error;
    say(error.message);
    process.exitCode = 1;
  }
}

/** Whether the module of this URL is the program that Node was started with. */
export function isProgram(url) {
  return process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(url);
}
