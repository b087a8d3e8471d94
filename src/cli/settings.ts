import { lstatSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { messageOf, UserError } from '../lib/errors.ts';
import { editDistance } from '../lib/nearest.ts';
import { readRegularFile } from '../lib/regular-file.ts';
import type { ProviderVariables } from '../models/index.ts';
import { SettingsFile } from '../schema/index.ts';
import { problemLines, type ReadFile } from './file-problems.ts';

export const settingsName = 'mlab.config.yaml';
const keysName = '.env';
const maxBytes = 2 ** 20;

/**
 * Settings of a folder, which apply to commands in it. Most folders have no such file, so its parser is loaded only if
 * there is one.
 */
export interface UserSettings {
  /** Path of the file; null if there is none. */
  path: string | null;
  /** Folders to look for tasks in. */
  tasks: readonly string[];
  /** Defaults for environment variables. */
  variables: Readonly<Record<string, string>>;
  /** In US dollars: runs that are expected to cost more need confirmation. */
  confirmAbove?: number;
  /** Keys of an experiment file. */
  run: Readonly<Record<string, unknown>>;
}

export const noSettings: UserSettings = { path: null, tasks: [], variables: {}, run: {} };

/**
 * The settings of a folder, or of the nearest folder above it that has some and the same owner.
 * @throws UserError `bad_settings` naming the file, the key and the fix
 */
export async function readSettings(from: string): Promise<UserSettings> {
  const path = findFile(from);
  if (path === null) return noSettings;
  const { content, lineOf } = await parsed(path);
  const { data, error } = SettingsFile.safeParse(content);
  if (data === undefined) {
    const problems = problemLines(error, { schema: SettingsFile, value: content, lineOf });
    // Programs in the cache are executed, and they could have come with the file.
    if (error.issues.some((issue) => issue.code === 'unrecognized_keys' && issue.keys.includes('cache')))
      problems.push('  Only the environment variable MLAB_CACHE names a cache.');
    throw new UserError(
      'bad_settings',
      `${path} has invalid settings:\n${problems.join('\n')}`,
      'docs/reference/settings-file.md describes every key.',
    );
  }
  const place = (folder: string) => resolve(dirname(path), folder);
  const { experiments, tasks = [], confirm_above: confirmAbove } = data;
  return {
    path,
    tasks: tasks.map(place),
    variables: experiments === undefined ? {} : { MLAB_EXPERIMENTS: place(experiments) },
    ...(confirmAbove === undefined ? {} : { confirmAbove }),
    // The keys as written: without defaults for those that are missing.
    run: (content as { run?: Record<string, unknown> }).run ?? {},
  };
}

function findFile(from: string): string | null {
  const { uid } = statSync(from);
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, settingsName);
    // In a folder that everybody can write to, such as /tmp, other people's files must not decide.
    if (isFileOf(uid, path)) return path;
    if (dirname(folder) === folder || statSync(dirname(folder)).uid !== uid) return null;
  }
}

function isFileOf(uid: number, path: string): boolean {
  const options = { throwIfNoEntry: false } as const;
  return lstatSync(path, options)?.uid === uid && statSync(path, options)?.isFile() === true;
}

async function parsed(path: string): Promise<Pick<ReadFile, 'lineOf'> & { content: unknown }> {
  const [{ LineCounter, parseDocument }, { lineOfField }] = await Promise.all([
    import('yaml'),
    import('../lib/yaml-lines.ts'),
  ]);
  try {
    const lines = new LineCounter();
    const document = parseDocument(textIn(path), { lineCounter: lines, logLevel: 'error' });
    const [wrong] = [...document.errors, ...document.warnings];
    if (wrong !== undefined) throw wrong;
    return { content: document.toJS() ?? {}, lineOf: (keys) => lineOfField(document, lines, keys) };
  } catch (error) {
    throw new UserError('bad_settings', `${path} can't be read: ${messageOf(error)}`, 'Make it a YAML file.');
  }
}

function textIn(path: string): string {
  return readRegularFile(path, maxBytes, { follow: true }).toString('utf8');
}

/**
 * Keys of providers and of Kaggle, and names of models. Not `MLAB_DOCKER` and the like, which would make mlab start
 * programs.
 */
const taken = /^(\w+_API_KEY|KAGGLE_API_TOKEN|KAGGLE_USERNAME|KAGGLE_KEY|MLAB_(EDITOR_|FAST_)?MODEL)$/;

/**
 * What a folder's `.env` adds to the environment: keys, names of models, and addresses of providers whose key is in it,
 * too. The folder may be somebody else's, who could otherwise have a key of your environment sent to a server of
 * theirs.
 */
export async function readKeys(
  folder: string,
  variables: ProviderVariables,
): Promise<Record<string, string>> {
  const given = keysIn(folder);
  if (given === null) return {};
  const { builtInProviders, providerVariables } = await import('../models/index.ts');
  const isSet = (name: string) => (variables[name] ?? '') !== '';
  const isOwnAddress = (name: string) =>
    builtInProviders.some((kind) => {
      const { keyVariables, baseUrlVariable } = providerVariables(kind);
      return name === baseUrlVariable && !keyVariables.some(isSet);
    });
  const chosen = Object.entries(given).flatMap(([name, value]) =>
    value !== undefined && !isSet(name) && (taken.test(name) || isOwnAddress(name))
      ? [[name, value] as const]
      : [],
  );
  return Object.fromEntries(chosen);
}

/** Names in a folder's `.env` that are most likely misspelt, as warnings: the right name is set nowhere. */
export async function misspeltKeys(folder: string, variables: ProviderVariables): Promise<string[]> {
  const given = keysIn(folder);
  if (given === null) return [];
  const { builtInProviders, modelVariables, providerVariables } = await import('../models/index.ts');
  const known = [
    ...builtInProviders.flatMap((kind) => {
      const { keyVariables, baseUrlVariable } = providerVariables(kind);
      return [...keyVariables, baseUrlVariable];
    }),
    ...Object.values(modelVariables),
    ...['KAGGLE_API_TOKEN', 'KAGGLE_USERNAME', 'KAGGLE_KEY'],
  ];
  const missing = known.filter((name) => !(name in given) && (variables[name] ?? '') === '');
  return Object.keys(given).flatMap((name) => {
    if (known.includes(name)) return [];
    const meant = missing.find((candidate) => editDistance(name.slice(0, 100).toUpperCase(), candidate) <= 2);
    return meant === undefined
      ? []
      : [`${join(folder, keysName)}: mlab does not know ${name}; did you mean ${meant}?`];
  });
}

function keysIn(folder: string): ReturnType<typeof parseEnv> | null {
  const path = join(folder, keysName);
  return isFileOf(statSync(folder).uid, path) ? parseEnv(textIn(path)) : null;
}
