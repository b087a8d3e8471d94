import { resolve } from 'node:path';
import { z } from 'zod';
import {
  type JudgeReply,
  judgeRun,
  readTranscript,
  rubricAgreement,
  summarise,
} from '../../evaluation/index.ts';
import { UserError } from '../../lib/errors.ts';
import { issueInWords } from '../../lib/issue-in-words.ts';
import { type ModelGateway, ModelRegistry, Quota } from '../../models/index.ts';
import {
  type ModelMessage,
  ModelName,
  type RoleSettings,
  type RubricJudgement,
  RubricQuestion,
  type Spent,
} from '../../schema/index.ts';
import { addCall, nothingSpent } from '../../store/index.ts';
import { type Context, exitCodes } from '../context.ts';
import { experimentFlags, readExperiment } from '../experiment-flags.ts';
import { locateRuns, runsArgument } from '../locate.ts';
import { counted, dollars, number, table } from '../table.ts';
import type { Verb } from '../verb.ts';

const defaultTokens = 1_000_000;

const Options = z.object({
  file: z.string().optional(),
  baseUrl: z.string().optional(),
  model: ModelName.optional(),
  repeats: z.coerce.number().int().min(1).max(20).default(3),
  tokens: z.coerce.number().int().min(1).default(defaultTokens),
  money: z.coerce.number().positive().optional(),
});

/** For the ratings, and for the reasoning of models that can't turn it off. */
const maxOutputTokens = 8000;

export const judge: Verb = {
  arguments: [runsArgument],
  flags: [
    { flags: '--model <name>', description: 'the judge: provider/name' },
    ...experimentFlags().filter(({ flags }) => flags.startsWith('--base-url ')),
    { flags: '--repeats <n>', description: 'judgements per run', default: '3' },
    {
      flags: '--tokens <n>',
      description: 'limit: tokens of all calls together, input and output',
      default: String(defaultTokens),
    },
    { flags: '--money <usd>', description: 'limit: cost of all calls together, in US dollars' },
    { flags: '--file <experiment>', description: 'experiment file with providers and prices' },
  ],
  details:
    'The judge rates each run from 1 to 5 by a rubric (docs/evaluation.md) and quotes its evidence. Ratings are stored with\n' +
    'the run, in rubric.jsonl, and do not affect any other number.',
  negative: 'a run has fewer ratings than --repeats',
  examples: [
    ['mlab judge start-1/digits-tools-0 --model anthropic/claude-haiku-4-5', 'three judgements of one run'],
    ['mlab judge start-1 --model openai/gpt-5-mini --repeats 5 --money 2', 'all its runs, for at most $2'],
  ],
  async run(context, names, options) {
    const { file, baseUrl, model, repeats, tokens, money } = readOptions(options);
    if (model === undefined)
      throw new UserError('usage', 'No model is given.', 'Name one with --model provider/name.');
    const settings: RoleSettings = { model, temperature: null, max_output_tokens: maxOutputTokens };
    const { providers, prices } = readExperiment(file, { baseUrl }, { prices: context.settings.run.prices });
    const registry = new ModelRegistry({
      ...{ providers, prices },
      variables: context.variables,
      folder: resolve('.'),
    });
    const roles = { agent: settings, editor: settings, fast: settings };
    registry.check(roles);
    if (money !== undefined) registry.checkPrices(roles);
    const quota = new Quota({ of: 'judging', tokens, money });
    const asked = new Judge(registry.gateway(roles, { quota }), context.signal);
    const runs = begunRuns(context, names);
    for (const { folder } of runs) folder.checkWritable();
    const rows: { run: string; judgements: RubricJudgement[] }[] = [];
    for (const { folder, experiment, record } of runs) {
      const run = `${experiment.name}/${folder.id}`;
      const judgements: RubricJudgement[] = [];
      for (let repeat = 1; repeat <= repeats && asked.stopped === null; repeat += 1) {
        context.signal.throwIfAborted();
        const judged = await judgeRun(readTranscript(folder, []), (messages) => asked.ask(messages));
        if (judged === null) break;
        const judgement: RubricJudgement = { v: 1, time: Date.now(), model, ...judged };
        await folder.writeResults(record, context.signal, () => folder.appendJudgement(judgement));
        judgements.push(judgement);
        context.log(
          `${run}: judgement ${repeat} of ${repeats}${judged.problem === null ? '' : `: ${judged.problem}`}`,
        );
      }
      rows.push({ run, judgements });
    }
    return resultOf(rows, repeats, asked);
  },
};

function begunRuns(context: Context, names: readonly string[]) {
  const runs = locateRuns(context, names).flatMap(({ folder, experiment }) => {
    const record = folder.readRecord();
    return record === null ? [] : [{ folder, experiment, record }];
  });
  if (runs.length > 0) return runs;
  throw new UserError(
    'nothing_to_judge',
    'None of these runs has started.',
    'Name runs that have steps; mlab runs ls lists them.',
  );
}

function readOptions(options: object): z.infer<typeof Options> {
  const parsed = Options.safeParse(options);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const [name = ''] = issue.path.map(String);
    return `--${name} ${String(Reflect.get(options, name))}: ${issueInWords(issue)}`;
  });
  throw new UserError('bad_flag', problems.join('\n'), 'mlab judge --help shows the flags.');
}

/** Calls the model within the gateway's quota; stops once the quota is used up or the model is unavailable. */
class Judge {
  readonly #gateway: ModelGateway;
  readonly #signal: AbortSignal;
  #spent = nothingSpent;
  /** Why no more calls are made; null while they are. */
  stopped: string | null = null;

  constructor(gateway: ModelGateway, signal: AbortSignal) {
    this.#gateway = gateway;
    this.#signal = signal;
  }

  /** The total of all calls, including those without an answer. */
  get spent(): Spent {
    return this.#spent;
  }

  async ask(messages: ModelMessage[]): Promise<JudgeReply> {
    const request = { role: 'agent', purpose: 'judge', messages } as const;
    const reply = await this.#gateway.ask(request, {
      signal: this.#signal,
      record: (call) => {
        this.#spent = addCall(this.#spent, call);
      },
    });
    if (reply.kind === 'over_quota')
      return this.#stop(
        `${reply.message}. Raise --${reply.exceeded} to get the judgements that are missing.`,
      );
    if (reply.kind === 'unavailable') return this.#stop(`${reply.error.message} ${reply.error.hint}`);
    const { answer, answeredBy, usage, cost } = reply;
    const text = answer.kind === 'answered' ? answer.text : `(${answer.kind}: ${answer.message})`;
    return { kind: 'answered', text, answeredBy, tokens: { input: usage.input, output: usage.output }, cost };
  }

  #stop(message: string): JudgeReply {
    this.stopped = message;
    return { kind: 'stopped', message };
  }
}

function resultOf(
  rows: readonly { run: string; judgements: RubricJudgement[] }[],
  repeats: number,
  { stopped, spent }: Judge,
) {
  const summaries = rows.map(({ run, judgements }) => ({ run, ...summarise(judgements) }));
  const agreement = rubricAgreement(summaries);
  const all = rows.flatMap(({ judgements }) => judgements);
  const used = spent.tokens;
  const cost = spent.unpriced > 0 ? null : spent.money;
  const ratings = table(
    [{ title: 'run' }, ...RubricQuestion.options.map((title) => ({ title, align: 'right' as const }))],
    summaries.map(({ run, ratings }) => [
      run,
      ...RubricQuestion.options.map((name) => ratings[name].join(' ') || '–'),
    ]),
  );
  const missing = rows.length * repeats - all.filter((judgement) => judgement.ratings !== null).length;
  const lines = [
    `Agreement of repeats: the same rating in ${share(agreement.exact)} of pairs, Krippendorff's alpha ${alphaText(agreement.alpha)}.`,
    `${used} tokens${cost === null ? '' : `, ${dollars(cost)}`}.`,
    ...(missing > 0
      ? [
          `${missing} of ${counted(rows.length * repeats, 'judgement')} missing: ${stopped === null ? 'the replies of the model could not be read' : 'see below'}.`,
        ]
      : []),
    ...(stopped === null ? [] : [`Stopped: ${stopped}`]),
  ];
  return {
    text: `${ratings}\n\n${lines.join('\n')}`,
    json: {
      runs: rows.map(({ run, judgements }, index) => ({ ...summaries[index], run, judgements })),
      agreement,
      tokens: used,
      cost,
      stopped,
    },
    exitCode: missing > 0 ? exitCodes.negative : exitCodes.ok,
  };
}

function share(value: number | null): string {
  return value === null ? '–' : `${(100 * value).toFixed(0)} %`;
}

function alphaText(value: number | null): string {
  return value === null ? '– (no differences to compare)' : number(value);
}
