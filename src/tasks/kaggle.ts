import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { hasCode, UserError } from '../lib/errors.ts';
import type { DownloadRequest } from './download-request.ts';
import type { HostVariables } from './host-variables.ts';

export const kaggleAddress = 'https://www.kaggle.com';

/** Credentials as an HTTP header; never printed, only where they come from. */
export interface KaggleCredentials {
  authorization: string;
  /** The name of a variable or the path of a file. */
  from: string;
}

const KeyFile = z.object({ username: z.string().min(1), key: z.string().min(1) });

/**
 * Looks where Kaggle's own tools look, in the same order. Null: there are none.
 * @throws UserError for a file that can't be used
 */
export function kaggleCredentials(variables: HostVariables): KaggleCredentials | null {
  const { KAGGLE_API_TOKEN: token, KAGGLE_USERNAME: user, KAGGLE_KEY: key } = variables;
  if (token) return { authorization: `Bearer ${token.trim()}`, from: 'KAGGLE_API_TOKEN' };
  if (user && key) return { authorization: basic(user, key), from: 'KAGGLE_USERNAME and KAGGLE_KEY' };
  for (const folder of configFolders(variables)) {
    const found = fromTokenFile(join(folder, 'access_token')) ?? fromKeyFile(join(folder, 'kaggle.json'));
    if (found !== null) return found;
  }
  return null;
}

function configFolders(variables: HostVariables): string[] {
  if (variables.KAGGLE_CONFIG_DIR) return [variables.KAGGLE_CONFIG_DIR];
  const home = variables.HOME || homedir();
  return [join(home, '.kaggle'), join(variables.XDG_CONFIG_HOME || join(home, '.config'), 'kaggle')];
}

function basic(user: string, key: string): string {
  return `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`;
}

function fromTokenFile(path: string): KaggleCredentials | null {
  const token = readIfThere(path)?.trim();
  return token ? { authorization: `Bearer ${token}`, from: path } : null;
}

function fromKeyFile(path: string): KaggleCredentials | null {
  const text = readIfThere(path);
  if (text === null) return null;
  try {
    const { username, key } = KeyFile.parse(JSON.parse(text));
    return { authorization: basic(username, key), from: path };
  } catch {
    // No cause: it might quote the key.
    throw new UserError(
      'kaggle_credentials',
      `${path} contains no username and key`,
      `create a new token at ${kaggleAddress}/settings and save it there`,
    );
  }
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return null;
    throw new UserError('kaggle_credentials', `${path} can't be read`, `check its owner: chmod 600 ${path}`);
  }
}

/** Whether other users of this machine can read the file that the credentials come from. */
export function isExposed(credentials: KaggleCredentials): boolean {
  const stat = statSync(credentials.from, { throwIfNoEntry: false });
  return stat !== undefined && (stat.mode & 0o044) !== 0;
}

/**
 * The request for all files of a competition, as one zip. Only Kaggle's host gets the key: its response redirects to a
 * storage service.
 * @param address Kaggle's, or a test server's
 */
export function kaggleRequest(
  competition: string,
  credentials: KaggleCredentials | null,
  address: string = kaggleAddress,
): Pick<DownloadRequest, 'url' | 'headersFor' | 'explain'> {
  if (credentials === null) throw noCredentials(competition);
  const home = new URL(address);
  return {
    url: `${home.origin}/api/v1/competitions/data/download-all/${encodeURIComponent(competition)}`,
    headersFor: (url): Record<string, string> =>
      url.origin === home.origin ? { authorization: credentials.authorization } : {},
    explain: (status) => explainKaggle(competition, credentials, status),
  };
}

function noCredentials(competition: string): UserError {
  return new UserError(
    'kaggle_credentials',
    `${competition} comes from Kaggle, which needs an account, but no credentials were found`,
    `create a token at ${kaggleAddress}/settings and set KAGGLE_API_TOKEN, or KAGGLE_USERNAME and KAGGLE_KEY, or save ~/.kaggle/kaggle.json; then accept the rules at ${rulesPage(competition)}`,
  );
}

function explainKaggle(
  competition: string,
  credentials: KaggleCredentials,
  status: number,
): UserError | null {
  if (status === 401) {
    return new UserError(
      'kaggle_credentials',
      `Kaggle does not accept the credentials from ${credentials.from}`,
      `create a new token at ${kaggleAddress}/settings`,
    );
  }
  if (status === 403) {
    return new UserError(
      'kaggle_rules',
      `Kaggle refuses the data of ${competition}: its rules have not been accepted by this account`,
      `accept them at ${rulesPage(competition)} (Kaggle may ask to verify a phone number), then run the same command again`,
    );
  }
  if (status === 404) {
    return new UserError(
      'kaggle_competition',
      `Kaggle has no competition ${competition}, or has closed its data`,
      `see ${kaggleAddress}/c/${competition}; --mirror takes a file that you downloaded yourself`,
    );
  }
  return null;
}

function rulesPage(competition: string): string {
  return `${kaggleAddress}/c/${competition}/rules`;
}
