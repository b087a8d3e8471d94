import { z } from 'zod';
import { EventPayload, ObjectId } from '../../schema/index.ts';
import { parseStoredText, type RunFolder, readLines } from '../../store/index.ts';
import type { Context } from '../context.ts';
import { type LocatedRun, locateRuns, runsArgument } from '../locate.ts';
import { snapshotOfStep } from '../run-steps.ts';
import type { Verb } from '../verb.ts';

interface Options {
  kind?: string[];
  texts?: boolean;
}

const kinds = EventPayload.options.map((option) => option.shape.kind.value);
const AnyEvent = z.looseObject({ kind: z.string() });
const StoredText = z.strictObject({ object: ObjectId, bytes: z.int() });

export const runsTrace: Verb = {
  onlyReads: true,
  arguments: [
    { ...runsArgument, description: `${runsArgument.description}; EXPERIMENT/RUN@STEP for one step` },
  ],
  flags: [
    {
      flags: '--kind <kinds>',
      description: `only events of these kinds: ${kinds.join(', ')}`,
      choices: kinds,
      many: 'commas',
    },
    { flags: '--texts', description: 'print long texts instead of the hashes that refer to them' },
  ],
  details:
    'The events of one run are printed byte for byte as they were recorded; those of several runs get the name of their run,\n' +
    'and --texts inserts long texts. docs/trace-format.md describes the events. A model call contains only the messages that\n' +
    'are new since earlier calls; mlab runs calls RUN --call N prints one in full.',
  examples: [
    ['mlab runs trace start-1/digits-automl-0', 'every event of a run'],
    [
      "mlab runs trace start-1 --kind step_finished --texts | grep -i 'out of memory'",
      'steps that ran out of memory, in all runs of an experiment',
    ],
    [
      "mlab runs trace start-1 --kind model_call | jq -s 'map(.usage.output) | add'",
      'output tokens of all runs',
    ],
  ],
  async run(context, given, options: Options) {
    const runs = locateRuns(context, given, { withSteps: true });
    const begun = runs.filter(({ folder }) => folder.hasTrace());
    // An experiment may consist of a single run.
    const several = runs.length > 1 || runs.some(({ isNamed }) => !isNamed);
    return {
      text: '',
      lines: linesOf(begun, several, options, context),
      json: async () => {
        const events: unknown[] = [];
        for await (const line of linesOf(begun, several, options, context))
          events.push(parseStoredText(z.unknown(), line, 'a line of the trace'));
        return { events };
      },
    };
  },
};

async function* linesOf(
  runs: readonly LocatedRun[],
  several: boolean,
  { kind, texts = false }: Options,
  { signal }: Context,
): AsyncGenerator<string> {
  for (const { folder, step } of runs) {
    const wanted = step === null ? null : snapshotOfStep(folder, step).number;
    for await (const { bytes, torn } of readLines(folder.tracePath, signal)) {
      if (torn) continue;
      const line = bytes.toString('utf8');
      const event =
        several || texts || kind !== undefined || wanted !== null
          ? parseStoredText(AnyEvent, line, 'a line of the trace')
          : null;
      if (event !== null && kind !== undefined && !kind.includes(event.kind)) continue;
      if (wanted !== null && event?.step !== wanted) continue;
      if (event === null || (!several && !texts)) {
        yield `${line}\n`;
        continue;
      }
      const shown = texts ? withTexts(event, folder) : event;
      yield `${JSON.stringify(several ? { run: folder.id, ...shown } : shown)}\n`;
    }
  }
}

/** An event with every referenced text inserted. */
function withTexts(event: object, folder: RunFolder): object {
  const textOrEvent = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(textOrEvent);
    if (typeof value !== 'object' || value === null) return value;
    const stored = StoredText.safeParse(value).data;
    return stored === undefined ? withTexts(value, folder) : { text: folder.objects.getText(stored.object) };
  };
  return Object.fromEntries(Object.entries(event).map(([name, value]) => [name, textOrEvent(value)]));
}
