/** Serves the viewer of a folder of experiments; prints its address, and for each line of input its memory. */
import { createInterface } from 'node:readline';
import { serveViewer } from '../../src/server/index.ts';

const [folder = ''] = process.argv.slice(2);
const begun = performance.now();
const viewer = await serveViewer({
  ...{ folders: [folder], tasks: [], version: 'bench', command: 'mlab', port: 0, pages: 'none' },
  log: (line) => process.stderr.write(`${line}\n`),
});
say({ port: viewer.port, startMs: performance.now() - begun });
for await (const _ of createInterface({ input: process.stdin })) {
  say({ peakBytes: process.resourceUsage().maxRSS * 1024 });
}
await viewer[Symbol.asyncDispose]();

function say(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
