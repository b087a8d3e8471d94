import module from 'node:module';
import { dirname } from 'node:path';

/** Variables for a Node that this process starts: it keeps compiled code where this one does, and compiles little. */
export function compiledCodeVariables(): NodeJS.ProcessEnv {
  const folder = module.getCompileCacheDir();
  // Within the folder that was asked for, each version of Node has one of its own.
  return folder === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(folder) };
}
