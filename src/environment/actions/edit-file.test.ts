import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { WorkspacePlace } from '../../../test/fixtures/workspace-place.ts';

const notes = 'alpha\n  beta\nalpha\n';

function edit(place: WorkspacePlace, old_text: string, new_text: string, more: object = {}) {
  return place.step('Edit File', { file_name: 'notes.txt', old_text, new_text, ...more });
}

function contentOf(place: WorkspacePlace, name = 'notes.txt'): string {
  return readFileSync(join(place.workspace, name), 'utf8');
}

describe('Edit File', () => {
  test('replaces a text that occurs once, and can be undone', async () => {
    await using place = await WorkspacePlace.open({ files: { 'notes.txt': notes } });
    const answer = await edit(place, '  beta\nalpha', '$& $1');
    expect(answer).toMatchObject({ status: 'ok', observation: 'Replaced the text in line 2 of notes.txt.' });
    expect(contentOf(place)).toBe('alpha\n$& $1\n');
    await place.step('Undo Edit Script', { script_name: 'notes.txt' });
    expect(contentOf(place)).toBe(notes);
    const finished = place.events.filter((event) => event.kind === 'step_finished');
    expect(finished[0]).not.toHaveProperty('by_model');
  });

  test.each([true, 'true', ' True '])(
    'replaces every occurrence with replace_all %j',
    async (replace_all) => {
      await using place = await WorkspacePlace.open({ files: { 'notes.txt': notes } });
      const answer = await edit(place, 'alpha', 'gamma', { replace_all });
      expect(answer.observation).toBe('Replaced 2 occurrences of notes.txt.');
      expect(contentOf(place)).toBe('gamma\n  beta\ngamma\n');
    },
  );

  test.each([
    ['a text that occurs several times', 'alpha', 'x', 'holds old_text 2 times, in lines 1, 3;'],
    [
      'a text with other white space',
      'alpha\nbeta',
      'x',
      'It stands there with other white space:\n1: "alpha"\n2: "  beta"',
    ],
    ['a text that does not occur', 'omega', 'x', 'does not hold old_text; nothing was changed.'],
    ['a text by itself', 'alpha', 'alpha', 'there is nothing to change'],
  ])('does not replace %s, and says why', async (_, old_text, new_text, why) => {
    await using place = await WorkspacePlace.open({ files: { 'notes.txt': notes } });
    const answer = await edit(place, old_text, new_text);
    expect(answer.status).toBe('failed');
    expect(answer.observation).toContain(why);
    expect(contentOf(place)).toBe(notes);
    expect(await place.step('Undo Edit Script', { script_name: 'notes.txt' })).toMatchObject({
      status: 'failed',
    });
  });

  test('does not make a file larger than it could edit again', async () => {
    await using place = await WorkspacePlace.open({ files: { 'notes.txt': 'a'.repeat(2 ** 20) } });
    const answer = await edit(place, 'a', 'b'.repeat(17), { replace_all: true });
    expect(answer).toMatchObject({
      status: 'failed',
      observation: expect.stringContaining('would become too large for this action (17825792 bytes)'),
    });
    expect(contentOf(place)).toHaveLength(2 ** 20);
    writeFileSync(join(place.workspace, 'notes.txt'), 'a\r\n'.repeat(2 ** 19));
    expect((await edit(place, 'a', '\n'.repeat(16), { replace_all: true })).observation).toContain(
      '(17825792 bytes)',
    );
  });

  test.each(['maybe', 1, null])('does not accept %j as a truth value', async (replace_all) => {
    await using place = await WorkspacePlace.open({ files: { 'notes.txt': notes } });
    expect(await edit(place, 'alpha', 'x', { replace_all })).toMatchObject({ status: 'invalid' });
  });

  test('finds a text in a file with Windows line breaks, and keeps them and the byte order mark', async () => {
    await using place = await WorkspacePlace.open({
      files: { 'notes.txt': '\ufeffone\r\ntwo\r\nthree\r\n' },
    });
    await edit(place, 'one\ntwo', 'one\n1½');
    expect(contentOf(place)).toBe('\ufeffone\r\n1½\r\nthree\r\n');
    await edit(place, '1½\r\nthree', '');
    expect(contentOf(place)).toBe('\ufeffone\r\n\r\n');
  });

  test('leaves every other byte of a file with mixed line breaks as it is', async () => {
    await using place = await WorkspacePlace.open({ files: { 'notes.txt': 'one\r\ntwo\nthree\rfour' } });
    await edit(place, 'two', '2');
    expect(contentOf(place)).toBe('one\r\n2\nthree\rfour');
  });

  test('refuses what it cannot edit', async () => {
    await using place = await WorkspacePlace.open({
      files: { 'notes.txt': notes, 'fixed/a.txt': 'a', 'binary.dat': '' },
      isReadOnly: (path) => path.startsWith('fixed/'),
    });
    writeFileSync(join(place.workspace, 'binary.dat'), Buffer.from([0x61, 0xff, 0x61]));
    const statusOf = async (file_name: string) => {
      const { status, observation } = await place.step('Edit File', {
        file_name,
        old_text: 'a',
        new_text: 'b',
      });
      return [status, observation];
    };
    expect(await statusOf('../a')).toEqual(['refused', expect.stringContaining('leads out')]);
    expect(await statusOf('fixed/a.txt')).toEqual(['refused', expect.stringContaining('read-only')]);
    expect(await statusOf('binary.dat')).toEqual(['failed', 'binary.dat is no text in UTF-8.']);
    expect(await statusOf('none.txt')).toEqual(['failed', expect.stringContaining('does not exist')]);
    expect(await statusOf('fixed')).toEqual(['failed', expect.stringContaining('folder')]);
  });
});
