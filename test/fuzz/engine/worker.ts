import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { targets } from '../targets.ts';
import { crash } from './attempt.ts';
import { readCorpus } from './corpus.ts';
import { fuzzLoop } from './fuzz-loop.ts';
import { type FromWorker, WorkerJob } from './messages.ts';
import type { FuzzTarget } from './target.ts';

/** Fuzzes targets, one after the other, in a thread of limited memory that its owner can end at any time. */
const job = WorkerJob.parse(workerData);
if (parentPort === null) throw new Error('this runs in a thread');
const port = parentPort;
const send = (message: FromWorker) => port.postMessage(message);

/** The number of inputs so far, the length of the current one, and its bytes. */
const [counter, under] = [new Int32Array(job.shared, 0, 2), new Uint8Array(job.shared, 8)];
let running: { target: string; input: Buffer } = { target: '', input: Buffer.alloc(0) };
const stray = new Set<string>();
process.on('unhandledRejection', (error) => {
  const { target, input } = running;
  const fault = crash(error);
  const signature = `unhandled ${fault.signature}`;
  if (stray.has(`${target} ${signature}`)) return;
  stray.add(`${target} ${signature}`);
  send({ kind: 'found', target, fault: { ...fault, signature }, input });
});

for (const { name, seconds, seed } of job.targets) {
  const target = targets.find((one) => one.name === name);
  if (target === undefined) throw new Error(`there is no target ${name}`);
  send({ kind: 'begun', target: name });
  send({ kind: 'ended', target: name, ...(await fuzz(target, seconds, seed)) });
}

async function fuzz(target: FuzzTarget, seconds: number, seed: number) {
  const folder = mkdtempSync(join(job.scratch, `${target.name}-`));
  const open = await target.open(folder);
  try {
    return await fuzzLoop({
      ...{ target, open, seed, seconds },
      kept: [
        ...readCorpus(target.name).map(({ content }) => content),
        ...target.seeds.map((one) => Buffer.from(one)),
      ],
      within: pathToFileURL(join(import.meta.dirname, '../../../src/')).href,
      begin(input) {
        running = { target: target.name, input };
        under.set(input.subarray(0, under.length));
        counter[1] = Math.min(input.length, under.length);
        Atomics.add(counter, 0, 1);
      },
      found: (fault, input) => send({ kind: 'found', target: target.name, fault, input }),
    });
  } finally {
    await open.close?.();
    rmSync(folder, { recursive: true, force: true });
  }
}
