/**
 * `npm run docs`: builds the documentation site from docs/ into website/dist. `-- --dev` serves it while you edit,
 * `-- --serve` serves the built site. Its generator is installed in website/, separately from the project's packages.
 * Other flags are passed on.
 */
import { join } from 'node:path';
import { endAs, handOver } from './hand-over.mjs';
import { installPackages, packagesAreCurrent } from './npm-packages.mjs';
import { packageRoot } from './project-node.mjs';
import { runScript } from './script.mjs';

const modes = { '--dev': 'dev', '--serve': 'preview' };

await runScript(async (argv) => {
  const website = join(packageRoot, 'website');
  if (!packagesAreCurrent(website))
    await installPackages({ folder: website, what: 'npm packages of the site', megabytes: 22 });
  const mode = argv.find((flag) => flag in modes);
  const vitepress = join(website, 'node_modules/vitepress/bin/vitepress.js');
  const flags = argv.filter((flag) => flag !== mode);
  const end = await handOver(process.execPath, [vitepress, modes[mode] ?? 'build', website, ...flags], {
    cwd: packageRoot,
  });
  endAs(end);
  return end.code ?? 1;
});
