/**
 * `npm run build`, also run by `npm pack`: compiles src/ to JavaScript in dist/, and builds the viewer's pages. Only
 * the package needs this, because Node strips no types inside node_modules.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buildViewer } from './build-viewer.mjs';
import { packageRoot } from './project-node.mjs';
import { runScript, SetUpError } from './script.mjs';
import { installProject } from './setup.mjs';

await runScript(async () => {
  await installProject();
  rmSync(join(packageRoot, 'dist'), { recursive: true, force: true });
  compile();
  copyOtherFiles();
  await buildViewer();
  return 0;
});

function compile() {
  const compiler = join(packageRoot, 'node_modules/typescript/bin/tsc');
  // Standard output belongs to `npm pack --json`.
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: packageRoot,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new SetUpError('The build failed: see above.');
}

/** Files beside the sources that are not TypeScript, such as a script that runs inside the sandbox. */
function copyOtherFiles() {
  cpSync(join(packageRoot, 'src'), join(packageRoot, 'dist'), {
    recursive: true,
    filter: (path) =>
      statSync(path).isDirectory() ? !path.endsWith('__pycache__') : !/\.(ts|pyc)$/.test(path),
  });
}
