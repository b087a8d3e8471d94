import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../lib/errors.ts';
import type { Context } from './context.ts';

/**
 * The folder of the viewer's built pages. In a clone they are built if they are missing or older than their sources,
 * which takes some seconds; the package contains them.
 * @throws UserError `no_pages`
 */
export async function viewerPages({ folders, log, signal }: Context): Promise<string> {
  const pages = join(folders.package, 'viewer/dist');
  const builder = join(folders.package, 'scripts/build-viewer.mjs');
  if (existsSync(builder)) {
    const child = spawn(process.execPath, [builder], { stdio: ['ignore', 'ignore', 'pipe'], signal });
    child.stderr.setEncoding('utf8').on('data', (text: string) => log(text.trimEnd()));
    const [code] = await once(child, 'close');
    if (code !== 0) throw noPages('The pages of the viewer could not be built.');
  }
  if (!existsSync(join(pages, 'index.html'))) throw noPages('The pages of the viewer are not built.');
  return pages;
}

function noPages(message: string): UserError {
  return new UserError('no_pages', message, 'Build them with: npm run build');
}
