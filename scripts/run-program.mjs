/** Sets up, then runs a program of this repository: the first argument is its path, the others are passed on. */
import { join } from 'node:path';
import { endAs, handOver } from './hand-over.mjs';
import { packageRoot } from './project-node.mjs';
import { runScript } from './script.mjs';
import { setUp } from './setup.mjs';

await runScript(async ([program, ...argv]) => {
  const { node } = await setUp();
  const end = await handOver(node.path, [join(packageRoot, program), ...argv], { cwd: packageRoot });
  endAs(end);
  return end.code ?? 1;
});
