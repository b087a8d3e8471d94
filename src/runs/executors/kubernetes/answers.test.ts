import { expect, test } from 'vitest';
import { all, isSilence } from './answers.ts';

/** The API's answer to a request for a page of an expired list, or to a request that it refuses. */
const answer = (code: number) => Object.assign(new Error(`HTTP-Code: ${code}`), { code });

const pages: Record<string, { items: number[]; metadata: { _continue?: string } }> = {
  first: { items: [1, 2], metadata: { _continue: 'second' } },
  second: { items: [3, 4], metadata: { _continue: 'third' } },
  third: { items: [5], metadata: { _continue: '' } },
};

function lister(failures: Record<string, Error[]> = {}) {
  return async ({ _continue = 'first' }: { _continue?: string }) => {
    const failure = failures[_continue]?.shift();
    if (failure !== undefined) throw failure;
    const page = pages[_continue];
    if (page === undefined) throw new Error(`no page ${_continue}`);
    return page;
  };
}

test('a list is read page by page', async () => {
  expect(await all(lister())).toEqual([1, 2, 3, 4, 5]);
});

test('a list that expired while it was read is read again from its start', async () => {
  const failures = { second: [answer(410)], third: [answer(410)] };
  expect(await all(lister(failures))).toEqual([1, 2, 3, 4, 5]);
});

test('a list that expires again and again, or is refused, is not asked for without end', async () => {
  const expired = Array.from({ length: 50 }, () => answer(410));
  await expect(all(lister({ third: expired }))).rejects.toThrow('410');
  await expect(all(lister({ first: [answer(410)] }))).rejects.toThrow('410');
  await expect(all(lister({ second: [answer(401)] }))).rejects.toThrow('401');
});

test('a server that does not answer is waited for, one that refuses or never will answer is not', () => {
  const broken = (code: string) =>
    new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
  for (const code of [429, 500, 503]) expect(isSilence(answer(code), false)).toBe(true);
  for (const code of [401, 403, 404, 409, 410]) expect(isSilence(answer(code), true)).toBe(false);
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'EAI_AGAIN'])
    expect(isSilence(broken(code), false)).toBe(true);
  expect(isSilence(broken('ERR_TLS_CERT_ALTNAME_INVALID'), true)).toBe(false);
  // A name that was found before may be found again; one that never was is wrong.
  expect(isSilence(broken('ENOTFOUND'), true)).toBe(true);
  expect(isSilence(broken('ENOTFOUND'), false)).toBe(false);
});
