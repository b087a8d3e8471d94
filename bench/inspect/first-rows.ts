import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { z } from 'zod';
import type { Side } from './sides.ts';

export interface Viewed {
  /** From starting the command until its first rows were shown. */
  seconds: number;
  /** Resident memory of all processes of the command: the maximum, and when they are idle. */
  peakBytes: number;
  restBytes: number;
}

const slowestStartMs = 120_000;
const longestWorkMs = 300_000;
const restMs = 3000;
const lookEveryMs = 10;
const sampleEveryMs = 50;

/**
 * Starts the viewer of a side and opens its page with all runs.
 * @param browser null: requests the rows from the server instead
 */
export async function viewRuns(side: Side, folder: string, browser: Browser | null): Promise<Viewed> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const page = await browser?.newPage({ viewport: { width: 1300, height: 900 } });
  const { argv, variables } = side.view(folder, port);
  const [program, ...args] = argv;
  const begun = performance.now();
  const child = spawn(program, args, { env: variables, stdio: 'ignore' });
  const stop = new AbortController();
  const watching = watchMemory(child, stop.signal);
  try {
    await untilAnswered(url, begun);
    if (page === undefined) await untilAnswered(`${url}${side.rowsPath}`, begun);
    else {
      await page.goto(url);
      await page.locator(side.rows).first().waitFor();
    }
    const seconds = (performance.now() - begun) / 1000;
    if (page !== undefined && side.allRuns !== null) {
      await page.goto(`${url}/${side.allRuns.hash}`);
      await page.locator(side.allRuns.rows).nth(1).waitFor();
    }
    await untilAlone(child.pid ?? 0);
    const restBytes = residentBytes(child.pid ?? 0);
    stop.abort();
    return { seconds, peakBytes: Math.max(restBytes, await watching), restBytes };
  } finally {
    stop.abort();
    await page?.close();
    const ended = once(child, 'close');
    child.kill('SIGINT');
    await ended;
  }
}

async function untilAnswered(url: string, begun: number): Promise<void> {
  for (;;) {
    const answer = await fetch(url).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.ok) return;
    if (performance.now() - begun > slowestStartMs) throw new Error(`${url} does not answer`);
    await sleep(lookEveryMs);
  }
}

/** Waits until a process has had no working child for a while. */
async function untilAlone(pid: number): Promise<void> {
  const latest = performance.now() + longestWorkMs;
  for (let alone = performance.now(); performance.now() < Math.min(alone + restMs, latest); ) {
    await sleep(sampleEveryMs);
    if (childrenOf(pid).length > 0) alone = performance.now();
  }
}

/** The maximum memory of a process and its descendants together. */
async function watchMemory(child: ChildProcess, signal: AbortSignal): Promise<number> {
  let peak = 0;
  while (!signal.aborted) {
    peak = Math.max(peak, residentBytes(child.pid ?? 0));
    await sleep(sampleEveryMs);
  }
  return peak;
}

/** Of a process and its descendants; 0 if it has gone. */
function residentBytes(pid: number): number {
  try {
    const own = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return childrenOf(pid).reduce((sum, one) => sum + residentBytes(one), 1024 * Number(own?.[1] ?? 0));
  } catch {
    return 0;
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = z.object({ port: z.int() }).parse(server.address());
  server.close();
  await once(server, 'close');
  return port;
}
