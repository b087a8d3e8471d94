/** `npm run fuzz`: sets up, then fuzzes; arguments are passed on. */
import { join } from 'node:path';
import { endAs, handOver } from './hand-over.mjs';
import { packageRoot } from './project-node.mjs';
import { runScript } from './script.mjs';
import { setUp } from './setup.mjs';

await runScript(async (argv) => {
  const { node } = await setUp();
  const end = await handOver(node.path, [join(packageRoot, 'test/fuzz/fuzz.ts'), ...argv], {
    cwd: packageRoot,
  });
  endAs(end);
  return end.code ?? 1;
});
