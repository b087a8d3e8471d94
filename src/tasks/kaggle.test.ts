import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Fault, startFileServer } from '../../test/fakes/file-server.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { sha256 } from '../lib/hash.ts';
import { download } from './download.ts';
import { checkKaggle } from './findings.ts';
import { kaggleCredentials, kaggleRequest } from './kaggle.ts';

const secret = 'a0b1c2d3-secret';
const variables = { KAGGLE_USERNAME: 'ada', KAGGLE_KEY: secret, HOME: '/nowhere' };
const content = Buffer.from('a zip file');

async function fetchCompetition(faults: Fault[]) {
  await using kaggle = await startFileServer({ content, faults });
  const destination = join(temporaryFolder(), 'some-competition.zip');
  const request = kaggleRequest('some-competition', kaggleCredentials(variables), kaggle.url);
  try {
    const result = await download({ ...request, destination, timing: { pauseMs: 1, attempts: 2 } });
    return { result, requests: kaggle.requests };
  } catch (error) {
    return { error, requests: kaggle.requests };
  }
}

describe('a Kaggle download', () => {
  it('sends the key to Kaggle only', async () => {
    await using storage = await startFileServer({ content });
    const { result, requests } = await fetchCompetition([{ kind: 'redirect', to: `${storage.url}/signed` }]);
    expect(result).toBe(sha256(content));
    expect(requests[0]?.path).toBe('/api/v1/competitions/data/download-all/some-competition');
    expect(requests[0]?.authorization).toBe(`Basic ${Buffer.from(`ada:${secret}`).toString('base64')}`);
    expect(storage.requests.map((request) => request.authorization)).toEqual([null]);
  });

  it.each([
    [401, 'kaggle_credentials', 'kaggle.com/settings'],
    [403, 'kaggle_rules', 'https://www.kaggle.com/c/some-competition/rules'],
    [404, 'kaggle_competition', 'https://www.kaggle.com/c/some-competition'],
  ])('names the page to visit after HTTP %i and never the key', async (status, code, page) => {
    const { error } = await fetchCompetition([{ kind: 'status', status }]);
    expect(error).toMatchObject({ code, hint: expect.stringContaining(page) });
    expect(JSON.stringify(error) + String(error)).not.toContain(secret);
  });

  it('says how to get credentials if there are none', () => {
    const none = kaggleCredentials({ HOME: temporaryFolder() });
    expect(none).toBeNull();
    expect(() => kaggleRequest('some-competition', none)).toThrow(/no credentials/);
  });
});

describe('Kaggle credentials', () => {
  const home = (name: string, text: string, mode = 0o600) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, '.kaggle'));
    writeFileSync(join(folder, '.kaggle', name), text);
    chmodSync(join(folder, '.kaggle', name), mode);
    return { HOME: folder };
  };
  const keyFile = JSON.stringify({ username: 'ada', key: secret });

  it('come from the token, then user and key, then the files of Kaggle’s own tools', () => {
    const token = { KAGGLE_API_TOKEN: 'KGAT_1' };
    expect(kaggleCredentials({ ...token, ...variables })?.authorization).toBe('Bearer KGAT_1');
    expect(kaggleCredentials(variables)?.from).toBe('KAGGLE_USERNAME and KAGGLE_KEY');
    expect(kaggleCredentials(home('kaggle.json', keyFile))?.authorization).toMatch(/^Basic /);
    expect(kaggleCredentials(home('access_token', 'KGAT_2\n'))?.authorization).toBe('Bearer KGAT_2');
  });

  it('in a broken file are an error that does not quote it', () => {
    const broken = home('kaggle.json', `{"username": "ada", "key": "${secret}`);
    expect(() => kaggleCredentials(broken)).toThrow(/contains no username and key/);
    expect(checkKaggle(broken)).toMatchObject({ state: 'warning' });
    expect(JSON.stringify(checkKaggle(broken))).not.toContain(secret);
  });

  it('that others can read are reported with the command that fixes it', () => {
    expect(checkKaggle(home('kaggle.json', keyFile))).toMatchObject({ state: 'ok', fix: null });
    expect(checkKaggle(home('kaggle.json', keyFile, 0o644)).fix).toMatch(/^chmod 600 /);
    expect(checkKaggle({ HOME: temporaryFolder() }).state).toBe('warning');
  });
});
