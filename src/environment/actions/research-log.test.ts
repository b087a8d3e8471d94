import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { requestText } from '../../../test/fixtures/request-text.ts';
import { WorkspacePlace } from '../../../test/fixtures/workspace-place.ts';
import { ScriptedModels } from '../../models/index.ts';

const log = { 'research_log.log': '\n\nStep 0:\nThe baseline has a MAE of 18,450.\n\n' };
const reflect = (place: WorkspacePlace) => place.step('Reflection', { things_to_reflect_on: 'What next?' });
const retrieve = (place: WorkspacePlace, current_plan = 'Try boosting.') =>
  place.step('Retrieval from Research Log', { current_plan });

function finishedSteps(place: WorkspacePlace) {
  return place.events.filter((event) => event.kind === 'step_finished');
}

describe('the research log', () => {
  test('is appended to in the format of the recorded runs, without a model', async () => {
    await using place = await WorkspacePlace.open();
    for (const content of ['\n\nStep 0:\nfirst\n', '\n\nStep 1:\nsecond\n']) {
      expect(await place.step('Append Summary to Research Log', { content })).toMatchObject({ status: 'ok' });
    }
    const file = join(place.workspace, 'research_log.log');
    expect(readFileSync(file, 'utf8')).toBe('\n\nStep 0:\nfirst\n\n\n\nStep 1:\nsecond\n\n');
    await place.step('Undo Edit Script', { script_name: 'research_log.log' });
    expect(readFileSync(file, 'utf8')).toBe('\n\nStep 0:\nfirst\n\n');
    expect(place.events.some(({ kind }) => kind === 'model_call')).toBe(false);
  });

  test.each([{}, { 'research_log.log': ' \n' }])(
    'that is missing or empty is reported without asking a model',
    async (files) => {
      const models = new ScriptedModels([]);
      await using place = await WorkspacePlace.open({ files, models });
      for (const answer of [await reflect(place), await retrieve(place)]) {
        expect(answer).toMatchObject({ status: 'ok' });
        expect(answer.observation).toContain('The research log is empty');
      }
      expect(models.requests).toEqual([]);
      expect(finishedSteps(place)[0]).not.toHaveProperty('by_model');
    },
  );

  test('is shown to the fast model with the problem and the question or plan, after a constant first part', async () => {
    const models = new ScriptedModels(['Use boosting.', 'MAE 18,450', 'all']);
    await using place = await WorkspacePlace.open({ files: log, models });
    expect(await reflect(place)).toMatchObject({ status: 'ok', observation: 'Use boosting.' });
    expect(await retrieve(place)).toMatchObject({ status: 'ok', observation: 'MAE 18,450' });
    await retrieve(place, '');
    expect(models.requests.map(({ role }) => role)).toEqual(['fast', 'fast', 'fast']);
    for (const text of ['None.', 'MAE of 18,450', 'What next?'])
      expect(requestText(models.requests[0])).toContain(text);
    for (const text of ['None.', 'MAE of 18,450', 'Try boosting.'])
      expect(requestText(models.requests[1])).toContain(text);
    expect(requestText(models.requests[2])).toContain('no plan yet');
    expect(models.requests[1]?.messages[0]).toEqual(models.requests[2]?.messages[0]);
    expect(models.requests[1]?.messages[0]).toMatchObject({ role: 'system', stable: true });
    expect(finishedSteps(place).map((step) => step.by_model)).toEqual([true, true, true]);
  });

  test('that is too long for the model is shortened from its beginning until it fits', async () => {
    const lines = Array.from({ length: 4000 }, (_, index) => `entry ${index}`);
    const models = new ScriptedModels((request) =>
      requestText(request).length > 15_000 ? { context_too_long: 'too long' } : 'fits',
    );
    await using place = await WorkspacePlace.open({
      files: { 'research_log.log': lines.join('\n') },
      models,
    });
    expect(await reflect(place)).toMatchObject({ status: 'ok', observation: 'fits' });
    const text = requestText(models.requests.at(-1));
    expect(text).toMatch(/\[older entries are left out\]\nentry \d+\n/);
    expect(text).toContain('entry 3999');
    expect(models.requests.length).toBe(3);
  });

  test('that never fits, and an empty answer, are reported as failures', async () => {
    const tooLong = { context_too_long: '' } as const;
    const models = new ScriptedModels([
      tooLong,
      // An empty answer is asked for again, twice.
      ...[' ', ' ', ' '],
      { refused: 'not this' },
      { text: 'half', finish: 'length' } as const,
    ]);
    await using place = await WorkspacePlace.open({ files: log, models });
    const outcomes = [await reflect(place), await reflect(place), await reflect(place), await reflect(place)];
    expect(outcomes.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed', 'ok']);
    expect(outcomes[0]?.observation).toContain('longer than the language model');
    expect(outcomes[1]?.observation).toContain('answer was empty');
    expect(outcomes[2]?.observation).toContain('declined: not this');
    expect(outcomes[3]?.observation).toBe("half\n[cut off at the language model's limit of tokens]");
  });

  test('that is very long is read only at its end', async () => {
    const models = new ScriptedModels(['read']);
    await using place = await WorkspacePlace.open({ models });
    writeFileSync(
      join(place.workspace, 'research_log.log'),
      `${`${'ü'.repeat(99)}\n`.repeat(10_000)}the end`,
    );
    await reflect(place);
    expect(requestText(models.requests[0]).length).toBeLessThan(250_000);
    expect(requestText(models.requests[0])).toContain('the end');
  });
});

describe('a resumed run', () => {
  test('asks no model again for a recorded step', async () => {
    const models = new ScriptedModels(['first', 'second']);
    await using place = await WorkspacePlace.open({ files: log, models });
    const before = [await reflect(place), await retrieve(place)];
    await place.reopen();
    expect([await reflect(place), await retrieve(place)]).toEqual(before);
    expect(models.requests.length).toBe(2);
  });

  test('stops where no model can be reached, and continues from there', async () => {
    const down = { fails: { failure: 'quota_exhausted' } } as const;
    const models = new ScriptedModels([down, 'now']);
    await using place = await WorkspacePlace.open({ files: log, models });
    await expect(reflect(place)).rejects.toThrow('quota_exhausted');
    await place.reopen();
    expect(await reflect(place)).toMatchObject({ step: 1, status: 'ok', observation: 'now' });
  });
});

describe('Request Help', () => {
  test('is answered by the person who watches, and not offered where nobody does', async () => {
    const asked: string[] = [];
    const askPerson = async (request: string) => {
      asked.push(request);
      return asked.length === 1 ? 'Use the GPU.' : '';
    };
    await using place = await WorkspacePlace.open({ askPerson });
    const help = () => place.step('Request Help', { request: 'How?' });
    expect(await help()).toMatchObject({ status: 'ok', observation: 'Use the GPU.' });
    expect((await help()).observation).toBe('The person gave no answer.');
    expect(asked).toEqual(['How?', 'How?']);
    expect(finishedSteps(place)[0]).not.toHaveProperty('by_model');
    await using alone = await WorkspacePlace.open();
    expect(await alone.step('Request Help', { request: 'How?' })).toMatchObject({ status: 'invalid' });
  });
});
