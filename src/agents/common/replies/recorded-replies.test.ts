import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sharedData } from '../../../../test/fixtures/shared-data.ts';
import { describeActions } from '../../../environment/index.ts';
import { type ParsedReply, parseReply } from './index.ts';
import { recordedFormat } from './recorded-format.ts';

const data = sharedData();
const runs = data === null ? null : join(dirname(data), 'recorded-runs');
const present = runs !== null && existsSync(runs);

const Call = z.object({ role: z.string(), completion: z.string() });
const Trace = z.object({
  steps: z.array(
    z.object({ action: z.object({ name: z.string(), args: z.record(z.string(), z.unknown()) }) }),
  ),
});

const actions = describeActions();
const ownSteps = new Set(['Append Summary to Research Log', 'Retrieval from Research Log']);

interface Reading {
  text: string;
  ours: ParsedReply;
}

function readingsOf(
  model: string,
): { run: string; readings: Reading[]; steps: z.infer<typeof Trace>['steps'] }[] {
  return globSync(join(runs ?? '', model, '*/*/calls.jsonl.gz')).map((file) => {
    const lines = gunzipSync(readFileSync(file)).toString('utf8').trim().split('\n');
    const replies = lines.map((line) => Call.parse(JSON.parse(line))).filter(({ role }) => role === 'agent');
    const trace = gunzipSync(readFileSync(join(dirname(file), 'trace.json.gz'))).toString('utf8');
    return {
      run: dirname(file),
      readings: replies.map(({ completion }) => ({
        text: completion,
        ours: parseReply(completion, actions, recordedFormat),
      })),
      // The retrieval agent takes these steps itself.
      steps: Trace.parse(JSON.parse(trace)).steps.filter(({ action }) => !ownSteps.has(action.name)),
    };
  });
}

/**
 * What the original's trace contains for an argument, in the form that a model wrote. For everything that is not plain
 * JSON, the original takes values as source text and puts a backslash before each slash and backslash. Our parser reads
 * the escapes.
 */
function asWritten(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const source = value.replace(/\\([\\/])/g, '$1');
  try {
    return JSON.parse(`"${source}"`);
  } catch {
    return source;
  }
}

const sameArguments = (trace: Record<string, unknown>, ours: Record<string, unknown>) =>
  Object.keys(trace).length === Object.keys(ours).length &&
  Object.entries(trace).every(([name, value]) =>
    [value, asWritten(value)].some((form) => isSame(form, ours[name])),
  );
const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** The original took an argument that Read File does not have for part of the previous one. */
const swallowed = /^[^"]+",\s*"\w+": "/;

describe.skipIf(!present)(
  `The replies of the recorded runs${present ? '' : ' (not on this machine)'}`,
  () => {
    it.each([
      { model: 'gemini-pro', replies: 592, parsed: 576, original: 570 },
      { model: 'codellama', replies: 635, parsed: 353, original: 346 },
    ])('of $model are read, $parsed of $replies', ({ model, replies, parsed, original }) => {
      const readings = readingsOf(model).flatMap((run) => run.readings);
      expect(readings).toHaveLength(replies);
      expect(readings.filter(({ ours }) => ours.ok)).toHaveLength(parsed);
      expect(parsed).toBeGreaterThan(original);
    });

    it.each(['gemini-pro', 'codellama'])(
      'of %s that the original read give the same actions and arguments',
      (model) => {
        let swallowing = 0;
        for (const { run, readings, steps } of readingsOf(model)) {
          // Each recorded step is one of our readings, in the same order; between them are only replies that the
          // original refused.
          let at = 0;
          for (const { action } of steps) {
            const isStep = ({ ours }: Reading) => {
              if (!ours.ok || ours.action !== action.name) return false;
              if (sameArguments(action.args, ours.args)) return true;
              const isSwallowed = Object.values(action.args).some((value) => swallowed.test(String(value)));
              if (isSwallowed) swallowing++;
              return isSwallowed;
            };
            const found = readings.findIndex((reading, index) => index >= at && isStep(reading));
            expect(found, `${run}: ${JSON.stringify(action)}`).toBeGreaterThanOrEqual(at);
            at = found + 1;
          }
        }
        expect(swallowing).toBe(model === 'gemini-pro' ? 1 : 0);
      },
    );

    it.each(['gemini-pro', 'codellama'])(
      'of %s that name an action and an input are refused only with cause',
      (model) => {
        const refused = readingsOf(model).flatMap(({ readings }) =>
          readings.flatMap(({ text, ours }) => (ours.ok ? [] : [{ text, ours }])),
        );
        for (const { text, ours } of refused) {
          const named = /^\s*Action:\s*(.+?)\s*$[\s\S]*^\s*Action Input:\s*(\S[\s\S]*)$/m.exec(text);
          if (named === null) continue;
          const action = actions.find(({ name }) => name === named[1]);
          const lacking = action?.arguments.filter(({ name }) => !named[2]?.includes(`"${name}"`)) ?? [];
          const isCut = !/\}\s*(?:```\s*)?(?:Observation:?\s*)?$/.test(text);
          expect([ours.reason, action === undefined || lacking.length > 0 || isCut]).toEqual([
            ours.reason,
            true,
          ]);
        }
      },
    );
  },
);
