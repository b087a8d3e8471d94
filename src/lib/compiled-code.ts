import module from 'node:module';
import { dirname } from 'node:path';

/** Variables for a Node that this process starts, so that it shares the cache of compiled code. */
export function compiledCodeVariables(): NodeJS.ProcessEnv {
  const folder = module.getCompileCacheDir();
  // Each version of Node has a subfolder in the folder of the variable.
  return folder === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(folder) };
}
