import { resolve } from 'node:path';
import { z } from 'zod';
import { messageOf, UserError } from '../../lib/errors.ts';
import {
  type KnownPrice,
  ModelRegistry,
  modelVariables,
  type Ping,
  type ProviderState,
  pingModel,
  roleSettings,
  withModelsOf,
} from '../../models/index.ts';
import { type ExperimentFile, ModelName, ModelRole, type RoleSettings } from '../../schema/index.ts';
import { exitCodes } from '../context.ts';
import { experimentFlags, readExperiment } from '../experiment-flags.ts';
import { duration, oneLine, plain, table } from '../table.ts';
import type { Verb } from '../verb.ts';

/** The flags of `mlab run` that name models and their addresses. */
const sharedFlags = [
  '--model',
  '--editor-model',
  '--fast-model',
  '--temperature',
  '--max-output-tokens',
  '--base-url',
];

const Options = z.object({
  file: z.string().optional(),
  ping: z.boolean().default(false),
  prices: z.boolean().default(false),
});

export const models: Verb = {
  arguments: [{ name: '[names...]', description: 'models to test with --ping; default: those of the roles' }],
  flags: [
    { flags: '--ping', description: 'send one small request to each model and show the result' },
    { flags: '--prices', description: 'list all known prices' },
    { flags: '--file <experiment>', description: 'experiment file with models, providers and prices' },
    ...experimentFlags().filter(({ flags }) => sharedFlags.includes(flags.split(' ')[0] ?? '')),
  ],
  details:
    'Models are named by flags, else by the experiment file, else by MLAB_MODEL, MLAB_EDITOR_MODEL and MLAB_FAST_MODEL.\n' +
    'The provider scripted answers from a file, for tests: scripted/FILE.yaml.\n' +
    'Keys are read from the environment or from .env.',
  negative: 'a model tested with --ping did not answer',
  examples: [
    ['mlab models', 'which providers are usable, and what is missing for the others'],
    ['mlab models --ping anthropic/claude-haiku-4-5', 'one small request: time, tokens, cost'],
    [
      'mlab models --ping openai-compatible/llama3.2 --base-url http://localhost:11434/v1',
      'the same with a local server',
    ],
    ['mlab models --prices --json', 'all known prices as JSON'],
  ],
  async run({ settings, variables, signal, log }, names, options) {
    const { file, ping, prices } = Options.parse(options);
    const experiment = withModelsOf(
      variables,
      readExperiment(file, options, { prices: settings.run.prices }),
    );
    const registry = new ModelRegistry({
      providers: experiment.providers,
      prices: experiment.prices,
      variables,
      folder: resolve('.'),
    });
    const rows = roleRows(registry, experiment);
    const asked = ping ? namesToAsk(names, rows) : refuseNames(names);
    const pings = await Promise.all(
      asked.map((name) =>
        pingModel(registry, name, signal, (line) => log(`${name} is asked again (${line})`)),
      ),
    );
    const known = registry.prices.entries();
    const sections = ping
      ? [pingTable(pings)]
      : [
          providerTable(registry.states()),
          rows.length === 0 ? noModel : roleTable(rows),
          ...(prices ? [priceTable(known)] : []),
        ];
    return {
      text: sections.join('\n\n'),
      json: {
        providers: registry.states().map(stateAsJson),
        roles: rows,
        ...(ping ? { pings: pings.map(pingAsJson) } : {}),
        prices: Object.fromEntries(known),
      },
      exitCode: pings.every(({ isAnswered }) => isAnswered) ? exitCodes.ok : exitCodes.negative,
    };
  },
};

const noModel = `No model is named: use --model, ${modelVariables.agent} or an experiment file.`;

interface RoleRow {
  role: ModelRole;
  model: string;
  temperature: number | null;
  max_output_tokens: number;
  price: KnownPrice | null;
  /** Why it can't be called; null: it can. */
  problem: string | null;
}

/** The roles of each model of the agent. */
function roleRows(registry: ModelRegistry, { models: named, roles: given }: ExperimentFile): RoleRow[] {
  return (named.length > 0 ? named : [null]).flatMap((model) => {
    const roles = roleSettings(model, given);
    if (roles === null) return [];
    return ModelRole.options.map((role) => {
      const settings = roles[role];
      const price = registry.prices.priceOf(settings.model);
      return { role, ...settings, price, problem: problemOf(registry, settings) };
    });
  });
}

function problemOf(registry: ModelRegistry, settings: RoleSettings): string | null {
  try {
    registry.check({ agent: settings, editor: settings, fast: settings });
    return null;
  } catch (error) {
    if (UserError.isInstance(error)) return messageOf(error);
    throw error;
  }
}

function namesToAsk(given: readonly string[], rows: readonly RoleRow[]): string[] {
  const names = [...new Set(given.length > 0 ? given : rows.map(({ model }) => model))];
  if (names.length === 0) throw new UserError('usage', '--ping needs a model.', noModel);
  for (const name of names) {
    if (!ModelName.safeParse(name).success)
      throw new UserError(
        'usage',
        `${name} is not the name of a model.`,
        'Give provider/name: anthropic/claude-haiku-4-5.',
      );
  }
  return names;
}

function refuseNames(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  throw new UserError(
    'usage',
    'To test models by name, add --ping.',
    `mlab models --ping ${names.join(' ')}`,
  );
}

function providerTable(states: readonly ProviderState[]): string {
  const rows = states.map(({ provider, usable, keyVariable, keyPresent, keyNeeded, baseUrl, problem }) => [
    provider,
    usable ? 'usable' : 'not usable',
    keyPresent ? `${keyVariable} is set` : `${keyVariable} is not set${keyNeeded ? '' : ' (not needed)'}`,
    baseUrl ?? '–',
    problem?.hint ?? '',
  ]);
  return table(['provider', 'state', 'key', 'base URL', 'to do'].map(titled), rows);
}

function roleTable(rows: readonly RoleRow[]): string {
  const cells = rows.map(({ role, model, temperature, max_output_tokens, price }) => [
    role,
    model,
    temperature === null ? "provider's own" : String(temperature),
    String(max_output_tokens),
    price === null ? 'not known' : `${price.input} / ${price.output}`,
  ]);
  const head = ['role', 'model', 'temperature', 'tokens of a reply', '$ per million tokens in / out'].map(
    titled,
  );
  const problems = new Set(rows.flatMap(({ problem }) => (problem === null ? [] : [`✗ ${plain(problem)}`])));
  return [table(head, cells), ...problems].join('\n');
}

function priceTable(prices: readonly [string, KnownPrice][]): string {
  const rows = prices.map(([model, price]) => {
    const { input, cached_input = input, cache_write = input, output, long_prompt, date } = price;
    const long =
      long_prompt === undefined
        ? ''
        : `${long_prompt.input} / ${long_prompt.output} above ${long_prompt.above} tokens`;
    return [model, ...[input, cached_input, cache_write, output].map(String), date, long];
  });
  const columns = [
    titled('$ per million tokens'),
    ...['input', 'cached', 'cache write', 'output'].map((title) => ({ title, align: 'right' as const })),
    titled('as of'),
    titled('long prompts'),
  ];
  return table(columns, rows);
}

function pingTable(pings: readonly Ping[]): string {
  const answered = pings.filter((ping) => ping.isAnswered);
  const rows = answered.map(({ model, latencyMs, usage, cost, answeredBy, text }) => [
    model,
    duration(latencyMs / 1000),
    `${usage.input} / ${usage.output}${usage.source === 'estimate' ? ' (estimated)' : ''}`,
    cost === null ? 'not known' : `$${cost.toFixed(6)}`,
    oneLine(answeredBy ?? '–', 40),
    oneLine(text, 40),
  ]);
  const head = ['model', 'time', 'tokens in / out', 'cost', 'answered by', 'answer'].map(titled);
  const failures = pings.flatMap((ping) => {
    if (ping.isAnswered) return [];
    return [`✗ ${ping.model} (${ping.failure}): ${plain(ping.message)}\n  → ${plain(ping.hint)}`];
  });
  return [...(rows.length === 0 ? [] : [table(head, rows)]), ...failures].join('\n');
}

function stateAsJson({ keyVariable, keyPresent, keyNeeded, baseUrl, ...state }: ProviderState) {
  const key = { key_variable: keyVariable, key_present: keyPresent, key_needed: keyNeeded };
  return { ...state, ...key, base_url: baseUrl };
}

function pingAsJson(ping: Ping) {
  const { isAnswered, ...rest } = ping;
  if (!isAnswered) return { answered: false, ...rest };
  const { model, text, answeredBy, usage, cost, latencyMs } = ping;
  return { answered: true, model, text, answered_by: answeredBy, usage, cost, latency_ms: latencyMs };
}

function titled(title: string): { title: string } {
  return { title };
}
