import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { modelCall, runEnded, sessionStarted, stepFinished } from '../../test/fixtures/store/examples.ts';
import { type EventPayload, ObjectId, type TraceEvent } from '../schema/index.ts';
import { efficiencyOf } from './efficiency.ts';

const snapshot = ObjectId.parse('a'.repeat(64));

function trace(...payloads: EventPayload[]): TraceEvent[] {
  return payloads.map((payload, seq) => ({ v: 1, seq, time: seq, prev: '0'.repeat(64), ...payload }));
}

function step(
  number: number,
  action: string,
  changes: Parameters<typeof stepFinished>[2],
  inside: EventPayload[] = [],
): EventPayload[] {
  return [
    { kind: 'step_started', step: number, action, args: { text: '{}' } },
    ...inside,
    stepFinished(number, snapshot, changes),
  ];
}

const begin = sessionStarted(snapshot);
const noUsage = { ...modelCall(1).usage, input: 0, cached_input: 0, output: 0, reasoning: 0 };
const usage = { ...modelCall(1).usage, input: 100, cached_input: 60, output: 20, reasoning: 5 };

describe('the efficiency of a run', () => {
  test('separates tokens of the agent from those inside actions', () => {
    const events = trace(
      begin,
      modelCall(1, { usage }),
      ...step(1, 'Edit Script (AI)', {}, [modelCall(2, { step: 1, usage })]),
      modelCall(3, { usage }),
      modelCall(4, { usage: noUsage, answer: null, failure: { failure: 'overloaded', message: '' } }),
    );
    expect(efficiencyOf(events, false).tokens).toEqual({
      agent: { calls: 2, prompt: 200, cached: 120, completion: 40, reasoning: 10, estimated: 0 },
      tools: { calls: 1, prompt: 100, cached: 60, completion: 20, reasoning: 5, estimated: 0 },
    });
  });

  test('counts the cost of calls without an answer', () => {
    const cut = { answer: null, failure: { failure: 'cut_off' as const, message: '' } };
    const calls = [modelCall(1, { usage, cost: 0.5 }), modelCall(2, { usage, cost: 0.25, ...cut })];
    const { tokens, money } = efficiencyOf(trace(begin, ...calls), false);
    expect(tokens.agent).toMatchObject({ calls: 1, prompt: 200, completion: 40 });
    expect(money).toBe(0.75);
  });

  test('distinguishes the models that a run used', () => {
    const other = { model: 'other/model', usage, cost: null };
    const calls = [
      modelCall(1, { usage, cost: 0.5 }),
      modelCall(2, other),
      modelCall(3, { usage, cost: 0.5 }),
    ];
    const { models, money } = efficiencyOf(trace(begin, ...calls), false);
    expect(models).toEqual([
      { model: modelCall(1).model, calls: 2, tokens: 240, money: 1 },
      { model: 'other/model', calls: 1, tokens: 120, money: null },
    ]);
    expect(money).toBeNull();
    expect(efficiencyOf(trace(begin), false)).not.toHaveProperty('models');
  });

  test('says how many tokens were estimated', () => {
    const guessed = { ...usage, source: 'estimate' as const };
    const events = trace(begin, modelCall(1, { usage }), modelCall(2, { usage: guessed }));
    const { tokens, models } = efficiencyOf(events, false);
    expect(tokens.agent).toMatchObject({ prompt: 200, estimated: 120 });
    expect(models).toMatchObject([{ tokens: 240, estimated: 120 }]);
  });

  test('has no cost without a model, and an unknown cost if one price is unknown', () => {
    expect(efficiencyOf(trace(begin), false).money).toBe(0);
    const priced = [modelCall(1, { cost: 0.5 }), modelCall(2, { cost: 0.25 })];
    expect(efficiencyOf(trace(begin, ...priced), false).money).toBe(0.75);
    const unknown = modelCall(3, { cost: null });
    expect(efficiencyOf(trace(begin, ...priced, unknown), false).money).toBeNull();
    const unanswered = modelCall(3, { cost: 0, usage: noUsage, answer: null });
    expect(efficiencyOf(trace(begin, ...priced, unanswered), false).money).toBe(0.75);
  });

  test('splits wall time into model, execution and overhead, and separates waiting', () => {
    const inside = modelCall(2, { step: 1, latency_ms: 3_000, waiting_ms: 4_000 });
    const events = trace(
      begin,
      modelCall(1, { latency_ms: 2_000, waiting_ms: 10_000 }),
      ...step(1, 'Edit Script (AI)', { duration_ms: 7_500, overhead_ms: 10 }, [inside]),
      ...step(2, 'Execute Script', { duration_ms: 6_000, overhead_ms: 20 }),
      { ...runEnded(), seconds_used: 13.5 },
    );
    expect(efficiencyOf(events, false).seconds).toEqual({
      wall: 13.5,
      model: 5,
      execution: 6.5,
      overhead: 0.03,
      waiting: 14,
    });
  });

  test("counts a tool's waiting as its script's, and does not count a person's time", () => {
    const asked = { step: 1, purpose: 'answer a tool', latency_ms: 4_000, waiting_ms: 500 };
    const events = trace(
      begin,
      ...step(1, 'Execute Script', { duration_ms: 6_000 }, [modelCall(1, asked), modelCall(2, asked)]),
      ...step(2, 'Request Help', { duration_ms: 60_000 }),
    );
    expect(efficiencyOf(events, false).seconds).toMatchObject({ model: 6, execution: 0, waiting: 0 });
  });

  test('adds processor time, takes the peak memory, and leaves unmeasured values unknown', () => {
    expect(efficiencyOf(trace(begin, ...step(1, 'List Files', {})), false)).toMatchObject({
      cpu_seconds: null,
      peak_memory_bytes: null,
    });
    const events = trace(
      begin,
      ...step(1, 'Execute Script', { cpu_seconds: 1.5, peak_memory_bytes: 300 }),
      ...step(2, 'Run Command', { cpu_seconds: 0.5, peak_memory_bytes: 200 }),
    );
    expect(efficiencyOf(events, false)).toMatchObject({ cpu_seconds: 2, peak_memory_bytes: 300 });
  });

  test('counts GPU time of commands only, and only if a GPU was granted', () => {
    const events = trace(
      begin,
      ...step(1, 'Execute Script', { duration_ms: 2_000 }),
      ...step(2, 'List Files', { duration_ms: 50 }),
      ...step(3, 'Python REPL', { duration_ms: 500 }),
    );
    expect(efficiencyOf(events, true).gpu_seconds).toBe(2.5);
    expect(efficiencyOf(events, false).gpu_seconds).toBeNull();
  });

  test('of a step never counts more than the step took', () => {
    const milliseconds = fc.double({ min: 0, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(milliseconds, fc.array(fc.tuple(milliseconds, milliseconds)), (duration_ms, calls) => {
        const inside = calls.map(([latency_ms, waiting_ms], index) =>
          modelCall(index + 1, { step: 1, latency_ms, waiting_ms }),
        );
        const { model, execution } = efficiencyOf(
          trace(begin, ...step(1, 'Execute Script', { duration_ms }, inside)),
          false,
        ).seconds;
        expect(model + execution).toBeLessThanOrEqual(duration_ms / 1000 + 1e-9);
      }),
    );
  });
});
