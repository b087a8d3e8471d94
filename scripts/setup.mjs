/**
 * Makes a fresh clone ready, and says so only where there was something to do: npm packages, the project's own Node,
 * the viewer's pages, the sandbox's and the tasks' system packages. Run by `npm start`, `npm test` and `npm run bench`; needs no network
 * when all is there. Python environments are made by mlab when a task first needs one.
 */
import { buildViewer } from './build-viewer.mjs';
import { installPackages } from './npm-packages.mjs';
import { findNode, missingNodeMessage } from './project-node.mjs';
import { isProgram, runScript, SetUpError } from './script.mjs';
import { installSystemPackages } from './system-packages.mjs';

/** Returns `{ node: { path, version, origin }, missing: string[] }`; `missing` has been reported already. */
export function setUp() {
  installPackages();
  const node = findNode();
  if (node === null) throw new SetUpError(missingNodeMessage());
  buildViewer(node.path);
  return { node, missing: installSystemPackages() };
}

if (isProgram(import.meta.url)) {
  await runScript(() => (setUp().missing.length === 0 ? 0 : 1));
}
