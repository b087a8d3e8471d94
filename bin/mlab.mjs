#!/usr/bin/env node
/** Starts mlab: in this very process where its Node is new enough, else in the project's own Node. */
import { existsSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { endAs, handOver } from '../scripts/hand-over.mjs';
import {
  findNode,
  flagsForRuns,
  isNewEnough,
  missingNodeMessage,
  packageRoot,
} from '../scripts/project-node.mjs';

const argv = process.argv.slice(2);
const self = fileURLToPath(import.meta.url);
const executesRuns = /^(run|worker|runs retry)( |$)/.test(argv.join(' '));
const nodeFlags = executesRuns ? flagsForRuns : [];
if (isNewEnough(process.versions.node)) {
  startAgain();
  await startHere();
} else {
  await startInNewerNode();
}

/** With the flags, where this Node can put another program in the place of this one. */
function startAgain() {
  const isThere = nodeFlags.every((flag) => process.execArgv.includes(flag));
  // A channel to the parent process would be lost.
  if (isThere || process.platform === 'win32' || process.channel !== undefined) return;
  const args = [...process.execArgv, ...nodeFlags, self, ...argv];
  process.execve?.(process.execPath, [process.execPath, ...args], process.env);
}

async function startHere() {
  keepCompiledCode();
  const source = join(packageRoot, 'src/cli/main.ts');
  // Only a checkout has sources: Node strips no types inside node_modules, so the package carries them built.
  const entry = existsSync(source) ? source : join(packageRoot, 'dist/cli/main.js');
  try {
    const { main } = await import(pathToFileURL(entry).href);
    process.exitCode = await main(argv);
  } catch (error) {
    if (!isMissingPackage(error)) throw error;
    console.error(`mlab: ${error.message}`);
    const next = entry === source ? 'run npm start' : 'install mlagentbench again';
    console.error(`Its npm packages are being installed, or are incomplete: wait, or ${next}.`);
    process.exitCode = 3;
  }
  leave(1000);
}

function isMissingPackage(error) {
  return error?.code === 'ERR_MODULE_NOT_FOUND' && /find package|node_modules/.test(error.message);
}

/** Timers and connections that an agent's code left behind would keep this process alive. */
function leave(afterMs) {
  const unwritten = () => process.stdout.writableLength + process.stderr.writableLength;
  setTimeout(() => (unwritten() > 0 ? leave(100) : process.exit()), afterMs).unref();
}

async function startInNewerNode() {
  const node = findNode();
  if (node !== null) {
    endAs(await handOver(node.path, [...nodeFlags, self, ...argv]));
    return;
  }
  console.error(missingNodeMessage());
  // Something that is needed is missing, as in src/cli/context.ts.
  process.exitCode = 3;
}

/** Halves the time to the first answer. Not in the shared /tmp, where others could plant code in it. */
function keepCompiledCode() {
  const { MLAB_CACHE, XDG_CACHE_HOME } = process.env;
  try {
    const cache = MLAB_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'mlagentbench');
    module.enableCompileCache(join(cache, 'node'));
  } catch {
    // A user without a home folder: mlab is slower, that is all.
  }
}
