import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../../test/fakes/virtual-clock.ts';
import type { ModelRequest, TokenUsage } from '../../schema/index.ts';
import type { LanguageModels } from '../language-models.ts';
import { CallLimiter } from '../limiter.ts';
import { ProviderCut, ProviderError, type ProviderReply } from '../provider-adapter.ts';
import { Quota } from '../quota.ts';
import { type RoleModel, RoleModels } from '../role-models.ts';
import type { CallRecord } from './caller.ts';
import { ModelGateway } from './model-gateway.ts';

const price = { input: 1, output: 10, date: '2026-11-01', source: 'a test' };
const maxOutput = 100;
const ask = (text: string): ModelRequest => ({
  role: 'agent',
  purpose: 'act',
  messages: [{ role: 'user', text }],
});

/** The outcome of one try of a call. */
interface Try {
  how: 'answers' | 'says nothing' | 'fails' | 'fails for good' | 'hangs';
  lasts: number;
  /** As fractions of the most that can be read and written; null: it is not charged. */
  uses: { input: number; output: number } | null;
}

function usageOf({ input, output }: { input: number; output: number }, text: string): TokenUsage {
  const counts = { input: Math.floor(input * text.length), output: Math.floor(output * maxOutput) };
  return { ...counts, cached_input: 0, cache_write: 0, reasoning: 0, source: 'provider' };
}

/**
 * Models whose tries have these outcomes; after the last one, each answers.
 * @param bill called with what each try is charged
 */
function modelsOf(
  clock: VirtualClock,
  limiter: CallLimiter,
  tries: readonly Try[],
  bill: (usage: TokenUsage) => void,
): LanguageModels {
  let asked = 0;
  const adapterFor: RoleModel['adapterFor'] = async ({ messages }) => ({
    async call(_, until): Promise<ProviderReply> {
      const next = tries[asked++] ?? { how: 'answers', lasts: 10, uses: null };
      const usage = next.uses === null ? null : usageOf(next.uses, messages[0]?.text ?? '');
      if (usage !== null) bill(usage);
      try {
        await clock.sleep(next.how === 'hangs' ? 1e9 : next.lasts, until);
      } catch (error) {
        throw usage === null ? error : new ProviderCut(usage);
      }
      if (next.how === 'fails' || next.how === 'fails for good') {
        const isPassing = next.how === 'fails';
        throw new ProviderError('overloaded', 'it failed', { isPassing, hint: 'wait', usage });
      }
      const text = next.how === 'says nothing' ? '' : 'yes';
      const answer = { kind: 'answered' as const, text, tool_calls: [], finish: 'stop' as const };
      return { answer, answeredBy: null, usage: usage ?? usageOf({ input: 0, output: 0 }, '') };
    },
  });
  const settings = { model: 'a/b', temperature: null, max_output_tokens: maxOutput };
  const model: RoleModel = { settings, price, limiter, attempts: 4, adapterFor };
  return new RoleModels({ agent: model, editor: model, fast: model }, clock);
}

const tries: fc.Arbitrary<Try[]> = fc.array(
  fc.record({
    how: fc.constantFrom('answers', 'says nothing', 'fails', 'fails for good', 'hangs'),
    lasts: fc.nat(2000),
    uses: fc.option(
      fc.record({
        input: fc.constantFrom(0, 0.5, 1),
        output: fc.constantFrom(0, 0.5, 1),
      }),
    ),
  }),
  { maxLength: 5 },
);

describe('the model gateway', () => {
  test('stays within all quotas, charges what it records, and releases what it reserved, whatever calls do', async () => {
    const call = fc.record({
      run: fc.nat(1),
      begins: fc.nat(300),
      length: fc.constantFrom(50, 400),
      tries,
      /** When the signal is aborted; calls that hang are always aborted in the end. */
      ends: fc.nat(20_000),
    });
    const limits = { own: { tokens: 1040, money: 0.008 }, shared: { tokens: 1250, money: 0.012 } };
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 12 }), async (calls) => {
        const clock = new VirtualClock();
        const limiter = new CallLimiter({ concurrent: 3, clock });
        const shared = new Quota({ of: 'the experiment', ...limits.shared });
        const runs = [0, 1].map(() => ({
          quota: new Quota({ of: 'this run', ...limits.own }),
          sum: 0,
          billed: 0,
        }));
        const quotas = () => [
          ...runs.map(({ quota }) => ({ quota, ...limits.own })),
          { quota: shared, ...limits.shared },
        ];
        const askOne = async ({ run, begins, length, tries, ends }: (typeof calls)[number]) => {
          const owner = runs[run];
          if (owner === undefined) return;
          const models = modelsOf(clock, limiter, tries, ({ input, output }) => {
            owner.billed += input + output;
          });
          const gateway = new ModelGateway({ models, quota: owner.quota, shared });
          const cut = new AbortController();
          await clock.sleep(begins);
          const over = new AbortController();
          const ending = clock.sleep(ends, over.signal).then(
            () => cut.abort(new Error('stopped')),
            () => {},
          );
          let records = 0;
          const record = ({ usage }: CallRecord) => {
            records += 1;
            owner.sum += usage.input + usage.output;
            for (const { quota, tokens, money } of quotas()) {
              expect(quota.spent.tokens).toBeLessThanOrEqual(tokens);
              expect(quota.spent.money).toBeLessThanOrEqual(money + 1e-9);
            }
          };
          const reply = await gateway
            .ask(ask('x'.repeat(length)), { signal: cut.signal, record })
            .catch(() => null);
          over.abort(new Error('over'));
          await ending;
          if (reply?.kind === 'over_quota') expect(records).toBe(0);
          else if (reply !== null) expect(records).toBe(1);
          else expect(records).toBeLessThanOrEqual(1);
        };
        await clock.run(Promise.all(calls.map(askOne)));
        for (const { quota, sum, billed } of runs)
          expect([quota.spent.tokens, sum]).toEqual([billed, billed]);
        for (const { quota, tokens, money } of quotas()) {
          expect(quota.spent.tokens).toBeLessThanOrEqual(tokens);
          expect(quota.left.tokens).toBe(tokens - quota.spent.tokens);
          expect(quota.left.money).toBeCloseTo(money - quota.spent.money, 12);
        }
        expect(shared.spent.tokens).toBe(runs.reduce((total, { sum }) => total + sum, 0));
        expect([limiter.active, limiter.waiting]).toEqual([0, 0]);
      }),
      { numRuns: 600 },
    );
  });
});
