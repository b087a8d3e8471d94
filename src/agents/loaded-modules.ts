import { registerHooks } from 'node:module';
import { extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** By what name agents import what this package offers them, wherever they lie and whether or not it is installed there. */
const apiName = 'mlagentbench/agent';
const api = new URL(`./api${extname(import.meta.filename)}`, import.meta.url).href;

/** A scheme of our own, by which Node looks for a package from another folder on. */
const elsewhere = 'mlab-agent:';

/** Which module imported which, by their addresses, since the first agent was loaded. */
const imports = new Map<string, Set<string>>();
let isWatching = false;

/** From now on modules find `mlagentbench/agent`, and it is known what they import. */
export function watchImports(): void {
  if (isWatching) return;
  isWatching = true;
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === apiName) return { url: api, shortCircuit: true };
      if (specifier.startsWith(elsewhere)) {
        const [name = '', parentURL = ''] = specifier.slice(elsewhere.length).split(' ');
        return next(name, { ...context, parentURL });
      }
      const resolved = next(specifier, context);
      const from = context.parentURL;
      if (from?.startsWith('file:') && resolved.url.startsWith('file:'))
        imports.set(from, (imports.get(from) ?? new Set()).add(resolved.url));
      return resolved;
    },
  });
}

/** Addresses of a module and of all that it imported, and these. */
export function importedBy(path: string): string[] {
  const found = new Set([pathToFileURL(path).href]);
  for (const url of found) for (const imported of imports.get(url) ?? []) found.add(imported);
  return [...found];
}

/** Where a package that is installed at or above a folder begins; null where none of this name is. */
export function packageEntry(name: string, folder: string): string | null {
  watchImports();
  try {
    const url = import.meta.resolve(`${elsewhere}${name} ${pathToFileURL(join(folder, 'agent.js')).href}`);
    return url.startsWith('file:') ? fileURLToPath(url) : null;
  } catch {
    return null;
  }
}
