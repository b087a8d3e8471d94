import { expect, test } from 'vitest';
import { makeExampleRun } from '../../test/fixtures/store/example-run.ts';
import {
  modelCall,
  replacedStep,
  runEnded,
  sessionStarted,
  stepFinished,
  stepStarted,
} from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { EventPayload, ObjectId, TraceEvent } from '../schema/index.ts';
import { processMetrics, type RunTranscript } from '../statistics/index.ts';
import { readTranscript, TranscriptReader } from './read-transcript.ts';

const snapshot = ObjectId.parse('a'.repeat(64));
const begun = (session = 1): EventPayload => ({
  ...sessionStarted(snapshot, session),
  ...(session === 1
    ? { task: { problem: { text: 'Do it.' }, entry: 'train.py', submission: ['submission.csv'] } }
    : {}),
});
const note = (entries: Record<string, string>): EventPayload => ({
  kind: 'note',
  entries: Object.fromEntries(Object.entries(entries).map(([name, text]) => [name, { text }])),
});
const reply = (text: string, tool_calls: unknown[] = []): EventPayload =>
  modelCall(1, { answer: { text: JSON.stringify({ kind: 'answered', text, tool_calls, finish: 'stop' }) } });
const step = (number: number): EventPayload[] => [stepStarted(number), stepFinished(number, snapshot)];
const ended = (reason: 'final_answer' | 'reply_format' | 'time_limit' = 'final_answer'): EventPayload => ({
  ...runEnded(),
  reason,
});

function transcriptOf(...payloads: (EventPayload | EventPayload[])[]): RunTranscript {
  const reader = new TranscriptReader((ref) => ('text' in ref ? ref.text : ''));
  for (const [seq, payload] of payloads.flat().entries())
    reader.read(TraceEvent.parse({ v: 1, seq, time: seq, prev: '0'.repeat(64), ...payload }));
  return reader.transcript([]);
}

const rejected = (...payloads: (EventPayload | EventPayload[])[]) =>
  transcriptOf(begun(), ...payloads).formatErrors.map(({ afterStep, reply: text }) => [afterStep, text]);

test('a real run is read from its folder, with long texts and resource use', async () => {
  const { run } = await makeExampleRun(temporaryFolder());
  const transcript = readTranscript(run, []);
  expect(transcript.steps).toMatchObject([
    { step: 1, action: 'Write File', args: { file_name: 'train.py' }, exitCode: null },
    { step: 2, action: 'Execute Script', exitCode: 0, used: { tokens: 1240, money: 0.0015 } },
  ]);
  expect(transcript.steps[0]?.entries).toEqual({ Reflection: 'A smaller learning rate may help.' });
  expect(transcript.steps[1]?.observation).toBe('epoch 1: accuracy 0.93\n'.repeat(60));
  expect(transcript.end).toEqual({ reason: 'final_answer', message: '', finalAnswer: 'done' });
  expect(processMetrics(transcript, null)).toMatchObject({
    debugging: { executions: 1 },
    waste: { edits: 1 },
  });
});

test('notes of an agent belong to the step that follows, or to the end of the run after the last step', () => {
  const transcript = transcriptOf(
    begun(),
    ...[
      note({ Observed: 'a' }),
      note({ Reason: 'b' }),
      note({ Reason: 'c' }),
      step(1),
      step(2),
      note({ Thought: 'd' }),
    ],
  );
  expect(transcript.steps.map(({ entries }) => entries)).toEqual([{ Observed: 'a', Reason: 'b\n\nc' }, {}]);
  expect(transcript.lastEntries).toEqual({ Thought: 'd' });
});

test("what a program printed is not read as the agent's own words", () => {
  const transcript = transcriptOf(begun(), note({ 'Program output': 'validation accuracy: 0.975' }), ended());
  expect(transcript.lastEntries).toEqual({});
  expect(processMetrics(transcript, null).grounding.claims).toBe(0);
});

test('a reply that was noted as unusable is one format error, even if it became a step', () => {
  expect(rejected(reply('?'), note({ Thought: 'hm', 'Format error': 'No action.' }), step(1))).toEqual([
    [0, '?'],
  ]);
  expect(rejected(reply('?'), note({ 'Format error': 'No action.' }), reply('!'), step(1))).toEqual([
    [0, '?'],
  ]);
});

test('a reply after which the model was asked again without a step is a format error', () => {
  expect(
    rejected(reply('?'), note({ Thought: '?' }), reply('!'), step(1), reply('??'), reply('!!'), step(2)),
  ).toEqual([
    [0, '?'],
    [1, '??'],
  ]);
});

test('a final answer that the agent held back is not a format error', () => {
  const call = { id: '1', name: 'Final_Answer', input: { final_answer: 'done' } };
  expect(rejected(reply('', [call]), reply('', [call]), step(1), ended())).toEqual([]);
  expect(rejected(reply('Action: Final Answer'), reply('Action: Final Answer'), step(1), ended())).toEqual(
    [],
  );
});

test("a run is not its agent's alone if somebody denies, replaces or takes a step", () => {
  const isShared = (...payloads: (EventPayload | EventPayload[])[]) =>
    transcriptOf(begun(), ...payloads).isShared;
  const decided = (verdict: 'allow' | 'deny' | 'replace'): EventPayload => ({
    ...{ kind: 'action_decided', step: 1, verdict, actor: 'Ada' },
    ...(verdict === 'replace' ? { replacement: { action: 'List Files', args: { text: '{}' } } } : {}),
  });
  expect(isShared(decided('allow'), step(1))).toBe(false);
  expect(isShared(decided('deny'), step(1))).toBe(true);
  expect(isShared(decided('replace'), step(1))).toBe(true);
  expect(isShared({ ...stepStarted(1), actor: 'Ada' }, stepFinished(1, snapshot))).toBe(true);
});

test('the last reply is a format error only if the run ended because of its form', () => {
  expect(rejected(step(1), reply('?'), ended('reply_format'))).toEqual([[1, '?']]);
  expect(rejected(step(1), reply('?'), ended('time_limit'))).toEqual([]);
});

test('calls of other roles, refusals and too long requests do not count as replies', () => {
  const refused = modelCall(2, { answer: { text: '{"kind":"context_too_long","message":"x"}' } });
  const fast = { ...reply('a summary'), role: 'fast' } as const;
  expect(rejected(reply('!'), step(1), fast, refused, reply('!'), step(2))).toEqual([]);
});

test('a run that was killed and resumed is read as if it had not been', () => {
  const whole = [
    note({ Thought: 'a' }),
    reply('!'),
    step(1),
    note({ Thought: 'b' }),
    reply('!'),
    step(2),
    ended(),
  ];
  const transcript = transcriptOf(begun(), ...whole);
  const killed = [
    ...[note({ Thought: 'a' }), reply('!'), step(1), note({ Thought: 'b' }), reply('!'), stepStarted(2)],
    ...[begun(2), ended('time_limit'), begun(3), step(2), ended()],
  ];
  expect(transcriptOf(begun(), ...killed)).toEqual(transcript);
});

test('a run that is forked from a step of another keeps what happened until there', () => {
  const parent = {
    ...sessionStarted(snapshot, 2),
    parent: { experiment: 'first', run: 'digits-tools-0', step: 1 },
  };
  const transcript = transcriptOf(
    begun(),
    note({ Thought: 'a' }),
    step(1),
    EventPayload.parse(parent),
    note({ Thought: 'b' }),
    step(2),
  );
  expect(transcript.problem).toBe('Do it.');
  expect(transcript.steps.map(({ entries }) => entries.Thought)).toEqual(['a', 'b']);
});

test('a replaced action counts as what was performed', () => {
  const instead = { name: 'Write File', args: { file_name: 'b.txt', content: 'two' } };
  const transcript = transcriptOf(begun(), replacedStep(1, instead), stepFinished(1, snapshot));
  expect(transcript.steps).toMatchObject([{ step: 1, action: 'Write File', args: instead.args }]);
  expect(processMetrics(transcript, null)).toMatchObject({ debugging: { executions: 0 } });
});
