import { constants, existsSync } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DoctorCheck } from '../lib/doctor-check.ts';
import { UserError } from '../lib/errors.ts';
import type { HostVariables } from './host-variables.ts';
import { isExposed, kaggleCredentials } from './kaggle.ts';
import { knownUv } from './python-environment.ts';
import { findInterpreter } from './python-interpreter.ts';
import { uvVersion } from './uv.ts';
import { withWritableCache } from './writable-cache.ts';

export interface CheckPythonOptions {
  interpreter?: string | null;
  variables: HostVariables;
  signal?: AbortSignal | null;
}

export async function checkPython(options: CheckPythonOptions): Promise<DoctorCheck> {
  try {
    const found = await findInterpreter(options);
    return { name: 'Python', state: 'ok', detail: `${found.version} (${found.executable})`, fix: null };
  } catch (error) {
    return findingOf('Python', 'missing', error);
  }
}

/** The package installer. Checking it downloads nothing. */
export async function checkInstaller(cache: string, options: CheckPythonOptions): Promise<DoctorCheck> {
  const uv = await knownUv({ ...options, cache }).catch(() => null);
  const later = `uv ${uvVersion} comes with the first environment; if it can't be installed, pip is used`;
  const detail = uv === null ? later : `uv ${uvVersion} (${uv.executable})`;
  return { name: 'Packages', state: 'ok', detail, fix: null };
}

/** Only some tasks need it, so its absence is a warning. */
export function checkKaggle(variables: HostVariables): DoctorCheck {
  const name = 'Kaggle';
  try {
    const credentials = kaggleCredentials(variables);
    if (credentials === null) {
      const fix = 'create a token at https://www.kaggle.com/settings and export KAGGLE_API_TOKEN=<token>';
      return { name, state: 'warning', detail: 'no credentials: tasks with Kaggle data need them', fix };
    }
    const detail = `credentials from ${credentials.from}`;
    if (!isExposed(credentials)) return { name, state: 'ok', detail, fix: null };
    const fix = `chmod 600 ${credentials.from}`;
    return { name, state: 'warning', detail: `${detail}, which other users can read`, fix };
  } catch (error) {
    return findingOf(name, 'warning', error);
  }
}

/**
 * In bytes: enough for the Python packages and data of the tasks without downloads, and for the largest common
 * download.
 */
const comfortable = 5 * 2 ** 30;
const necessary = 2 ** 30;

export async function checkCacheDisk(cache: string): Promise<DoctorCheck> {
  let folder = cache;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    await withWritableCache(cache, () => access(folder, constants.W_OK | constants.X_OK));
  } catch (error) {
    return findingOf('Cache', 'missing', error);
  }
  const disk = await statfs(folder);
  const free = disk.bavail * disk.bsize;
  const detail = `${(free / 2 ** 30).toFixed(1)} GiB free for ${cache}`;
  const state = free < necessary ? 'missing' : free < comfortable ? 'warning' : 'ok';
  const fix = state === 'ok' ? null : 'export MLAB_CACHE=<folder on a disk with more space>';
  return { name: 'Cache', state, detail, fix };
}

function findingOf(name: string, state: DoctorCheck['state'], error: unknown): DoctorCheck {
  if (!UserError.isInstance(error)) throw error;
  return { name, state, detail: error.message, fix: error.hint };
}
