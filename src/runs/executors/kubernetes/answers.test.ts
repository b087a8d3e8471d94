import { expect, test } from 'vitest';
import { all } from './answers.ts';

/** The API's answer to a page whose list it has forgotten, or to a question that it refuses. */
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
