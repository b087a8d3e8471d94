import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { readTranscript } from '../src/evaluation/index.ts';
import { importOriginalRuns } from '../src/exchange/index.ts';
import { ProcessMetrics } from '../src/schema/index.ts';
import { processMetrics, type RunTranscript } from '../src/statistics/index.ts';
import { sharedData } from './fixtures/shared-data.ts';

const data = sharedData();
const recorded = join(data ?? '', '..', 'recorded-runs');
const isThere = data !== null && existsSync(recorded);
const folder = mkdtempSync(join(tmpdir(), 'mlab-recorded-'));
const transcripts = new Map<string, RunTranscript>();
const runs = () => [...transcripts.keys()];

beforeAll(async () => {
  if (!isThere) return;
  const { experiment } = await importOriginalRuns({
    ...{ folders: [recorded], name: 'recorded', experiments: folder, taskFolders: [], sandbox: 'none' },
    ...{ version: '0', onProgress: () => {}, signal: new AbortController().signal },
  });
  for (const id of experiment.runIds) transcripts.set(id, readTranscript(experiment.runFolder(id), []));
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function transcriptOf(run: string): RunTranscript {
  const transcript = transcripts.get(run);
  if (transcript === undefined) throw new Error(`there is no run ${run}`);
  return transcript;
}

const measure = (transcript: RunTranscript) => processMetrics(transcript, null);

/** Checked by eye in all 74 runs: whether each claim is a result, and whether a script had printed it by then. */
const unmeasuredResults = [
  ['house-price-codellama-0', 7, 'Research Plan and Status: Validation MAE: 18,783.0'],
  ['house-price-codellama-1', 7, 'Research Plan and Status: Validation MAE: 18,783.0'],
  ['cifar10-gemini-pro-0', 3, 'Reflection: The current model achieves a test accuracy of 73.2%.'],
  // Given by a model that was asked to read the starter script.
  ['cifar10-gemini-pro-2', 6, 'research log: Train Accuracy: 99.03%'],
  ['cifar10-gemini-pro-2', 6, 'research log: Test Accuracy: 96.73%'],
  ['imdb-gemini-pro-4', 10, 'Final Answer: The accuracy of the model on the test set is 87.2%.'],
  ...[
    'The execution time of the script "train vectorised fixed py" was 1.23 seconds.',
    'The execution time of the original script "train py" was 1.56 seconds.',
    'The performance improvement is 21%.',
  ].map((claim) => ['vectorization-gemini-pro-1', 15, `rejected reply: ${claim}`]),
  [
    'vectorization-gemini-pro-4',
    31,
    'Final Answer: The execution time of the vectorised script is 0.0009999275207519531 seconds, which is significantly ' +
      'faster than the original script, which took 2.693993330001831 seconds to execute.',
  ],
];

function outputsOf({ steps }: RunTranscript): string[] {
  return steps.filter(({ action }) => action === 'Execute Script').map(({ observation }) => observation);
}

/** The run as if this had been printed at its beginning, and its scripts had printed nothing. */
function withOutput(transcript: RunTranscript, printed: string): RunTranscript {
  const steps = transcript.steps.map((step) =>
    step.action !== 'Execute Script' ? step : { ...step, observation: '' },
  );
  const [first] = transcript.steps;
  if (first === undefined) return transcript;
  const before = {
    ...first,
    action: 'Execute Script',
    exitCode: 0,
    byModel: false,
    entries: {},
    observation: printed,
  };
  return { ...transcript, steps: [before, ...steps] };
}

describe.skipIf(!isThere)(
  'the process measures of recorded runs of the original (skipped without them)',
  () => {
    it('fit their schema and their bounds', () => {
      expect(runs()).toHaveLength(74);
      for (const run of runs()) {
        const transcript = transcriptOf(run);
        const metrics = measure(transcript);
        expect(ProcessMetrics.parse(metrics), run).toEqual(metrics);
        const { grounding, debugging, waste, plan, endings } = metrics;
        expect(grounding.ungrounded, run).toBeLessThanOrEqual(grounding.claims);
        expect(debugging.executions + waste.edits, run).toBeLessThanOrEqual(transcript.steps.length);
        expect(endings.never_executed, run).toBe(debugging.executions === 0 && transcript.steps.length > 0);
        expect(plan.done + plan.dropped, run).toBeLessThanOrEqual(plan.declared);
      }
    });

    it('find the results that were stated without a measurement, and no others', () => {
      const found = runs().flatMap((run) =>
        measure(transcriptOf(run)).grounding.examples.map(({ step, text }) => [run, step, text]),
      );
      expect(found).toEqual(unmeasuredResults);
    });

    it('ground no claim in a run whose scripts printed nothing', () => {
      const claims = runs().map((run) => measure(withOutput(transcriptOf(run), '')).grounding);
      expect(claims.reduce((sum, { claims }) => sum + claims, 0)).toBe(90);
      for (const { claims: all, ungrounded } of claims) expect(ungrounded).toBe(all);
    });

    it('ground hardly any claim by chance, with the output of scripts of another task', () => {
      const all = runs().map((run) => ({
        task: run.replace(/-(?:gemini-pro|codellama)-\d$/, ''),
        transcript: transcriptOf(run),
      }));
      const claiming = all.filter(({ transcript }) => measure(transcript).grounding.claims > 0);
      const outputs = Map.groupBy(all, ({ task }) => task);
      let [claims, grounded] = [0, 0];
      for (const { task, transcript } of claiming) {
        for (const [other, others] of outputs) {
          if (other === task) continue;
          const printed = others.flatMap((each) => outputsOf(each.transcript)).join('\n');
          const { grounding } = measure(withOutput(transcript, printed));
          claims += grounding.claims;
          grounded += grounding.claims - grounding.ungrounded;
        }
      }
      expect({ claims, grounded }).toEqual({ claims: 1080, grounded: 9 });
    });

    // Each was read from its trace.
    test.each<[string, (metrics: ProcessMetrics) => unknown, unknown]>([
      [
        'imdb-gemini-pro-4',
        ({ endings }) => endings,
        { unverified: true, never_executed: true, stale_submission: false },
      ],
      [
        'house-price-gemini-pro-0',
        ({ endings }) => endings,
        { unverified: false, never_executed: false, stale_submission: false },
      ],
      [
        'house-price-gemini-pro-1',
        ({ endings }) => endings,
        { unverified: true, never_executed: false, stale_submission: false },
      ],
      [
        'house-price-gemini-pro-3',
        ({ debugging }) => debugging,
        {
          executions: 7,
          failed: 7,
          chains: 1,
          longest_chain: 7,
          mean_chain: 7,
          same_error_again: 6,
          recovery_rate: 0,
        },
      ],
      ['house-price-gemini-pro-2', ({ debugging }) => [debugging.chains, debugging.recovery_rate], [2, 0.5]],
      ['vectorization-gemini-pro-2', ({ waste }) => [waste.repeated_actions, waste.no_op_edits], [9, 3]],
      [
        'imdb-codellama-0',
        ({ waste }) => [waste.edits, waste.no_op_edits, waste.edit_to_execute_ratio],
        [17, 16, null],
      ],
      ['house-price-gemini-pro-1', ({ plan }) => plan, { kept: true, declared: 7, done: 7, dropped: 0 }],
      [
        'spaceship-titanic-gemini-pro-1',
        ({ plan }) => plan,
        { kept: true, declared: 3, done: 2, dropped: 0 },
      ],
      [
        'llama-inference-gemini-pro-1',
        ({ errors }) => errors.map(({ category }) => category),
        ['debugging', 'bad_plan'],
      ],
    ])('%s is as it was read, case %$', (run, pick, expected) => {
      expect(pick(measure(transcriptOf(run)))).toEqual(expected);
    });
  },
);
