/** `npm run adversary`: sets up, then tries every attack of test/adversary; arguments are passed on. */
import { join } from 'node:path';
import { endAs, handOver } from './hand-over.mjs';
import { packageRoot } from './project-node.mjs';
import { runScript } from './script.mjs';
import { setUp } from './setup.mjs';

await runScript(async (argv) => {
  const { node } = await setUp();
  const main = join(packageRoot, 'test/adversary/main.ts');
  const end = await handOver(node.path, [main, ...argv], { cwd: packageRoot });
  endAs(end);
  return end.code ?? 1;
});
