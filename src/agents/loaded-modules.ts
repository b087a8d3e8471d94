import { registerHooks } from 'node:module';
import { extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * The name by which agents import what this package offers them, wherever they are and whether or not it is installed
 * there.
 */
const apiName = 'mlagentbench/agent';
const api = new URL(`./api${extname(import.meta.filename)}`, import.meta.url).href;

/** Our own URL scheme, by which Node resolves a package from another folder. */
const elsewhere = 'mlab-agent:';

/** Which module imported which, by their URLs, since the first agent was loaded. */
const imports = new Map<string, Set<string>>();
let isWatching = false;

/** From now on, modules can import `mlagentbench/agent`, and their imports are tracked. */
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

/** The URLs of a module and of everything that it imported, directly or indirectly. */
export function importedBy(path: string): string[] {
  const found = new Set([pathToFileURL(path).href]);
  for (const url of found) for (const imported of imports.get(url) ?? []) found.add(imported);
  return [...found];
}

/** The entry file of a package that is installed at or above a folder; null if there is none with this name. */
export function packageEntry(name: string, folder: string): string | null {
  watchImports();
  try {
    const url = import.meta.resolve(`${elsewhere}${name} ${pathToFileURL(join(folder, 'agent.js')).href}`);
    return url.startsWith('file:') ? fileURLToPath(url) : null;
  } catch {
    return null;
  }
}
