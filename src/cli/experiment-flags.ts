import { readFileSync } from 'node:fs';
import { type Document, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { hasCode, messageOf, UserError } from '../lib/errors.ts';
import { valueAt } from '../lib/json-values.ts';
import { lineOfField } from '../lib/yaml-lines.ts';
import { executorNames } from '../runs/index.ts';
import { defaultLimits, ExperimentFile, Limits } from '../schema/index.ts';
import { problemLines } from './file-problems.ts';
import { anyNumber, wholeNumber } from './flag-numbers.ts';
import type { Flag } from './verb.ts';

/** How each key of an experiment file is given as a flag; descriptions come from the schema. */
const spellings: Record<
  keyof ExperimentFile,
  { flags: string; parse?: NonNullable<Flag['parse']>; many?: 'commas' } | null
> = {
  name: { flags: '--name <name>' },
  tasks: { flags: '--task <ids>', many: 'commas' },
  suite: { flags: '--suite <name>' },
  agents: { flags: '--agent <names>', many: 'commas' },
  models: { flags: '--model <names>', many: 'commas' },
  roles: null,
  providers: null,
  prices: null,
  spend: null,
  executor: null,
  interactive: { flags: '--interactive' },
  approve_later: { flags: '--approve-later' },
  seeds: { flags: '--seeds <n>', parse: seedsOf },
  limits: null,
  parallel: { flags: '--parallel <n>', parse: wholeNumber(1) },
  resources: null,
  sandbox: { flags: '--sandbox <driver>' },
  docker_image: { flags: '--docker-image <image>' },
  experience: { flags: '--experience <file>' },
  same_task: { flags: '--same-task' },
  gpu: { flags: '--gpu' },
  gpus: { flags: '--gpus <n>', parse: wholeNumber(1) },
  clock: { flags: '--clock <which>' },
  grade: { flags: '--grade <which>' },
};

/** Flags for values nested inside an experiment file. */
const innerFlags: { flag: Flag; path: readonly [string, string?, string?] }[] = [
  {
    path: ['seeds'],
    flag: {
      flags: '--seed <n>',
      description: 'only this seed',
      parse: wholeNumber(0),
      many: 'repeated',
    },
  },
  {
    path: ['executor', 'on'],
    flag: {
      flags: '--on <where>',
      choices: executorNames,
      // An address is not one of the choices: it is checked when it is used.
      parse: (text) => text,
      description: `where to execute runs: ${executorNames.join(', ')} (default: where it was executed before, else local)`,
    },
  },
  {
    path: ['executor', 'slurm', 'gateway_on'],
    flag: {
      flags: '--gateway-on <where>',
      description:
        'with --on slurm, where calls to language models are made: node, submit (this command) or the address of a gateway (default: node)',
    },
  },
  {
    path: ['executor', 'redis', 'artifacts'],
    flag: {
      flags: '--artifacts <url>',
      description:
        'with --on redis, S3-compatible store to exchange runs through, s3://BUCKET/FOLDER, with credentials from the AWS_* variables (default: a folder that all machines share)',
    },
  },
  {
    path: ['roles', 'editor', 'model'],
    flag: { flags: '--editor-model <name>', description: "model that edits files; default: the agent's" },
  },
  {
    path: ['roles', 'fast', 'model'],
    flag: { flags: '--fast-model <name>', description: "model that summarises; default: the agent's" },
  },
  {
    path: ['roles', 'agent', 'temperature'],
    flag: {
      flags: '--temperature <t>',
      description: 'sampling temperature of the agent (default: 0.5, as in the paper)',
      parse: anyNumber,
    },
  },
  {
    path: ['roles', 'agent', 'max_output_tokens'],
    flag: {
      flags: '--max-output-tokens <n>',
      description: 'maximum tokens of one reply of the agent (default: 2000)',
      parse: wholeNumber(1),
    },
  },
  {
    path: ['providers', 'openai-compatible', 'base_url'],
    flag: {
      flags: '--base-url <url>',
      description: 'base URL for models of openai-compatible/…, such as http://localhost:11434/v1',
    },
  },
  {
    path: ['spend', 'tokens'],
    flag: {
      flags: '--experiment-tokens <n>',
      description: 'limit: tokens of language models in all runs together; default: no limit',
      parse: wholeNumber(1),
    },
  },
  {
    path: ['spend', 'money'],
    flag: {
      flags: '--experiment-money <n>',
      description: 'limit: cost of language models in all runs together, in US dollars; default: no limit',
      parse: anyNumber,
    },
  },
];

/** One flag for each key of an experiment file and each limit. */
export function experimentFlags(): Flag[] {
  const keys = Object.entries(spellings).flatMap(([key, spelling]): Flag[] => {
    if (spelling === null) return [];
    const { choices } = plainValues(ExperimentFile.shape[key as keyof ExperimentFile]);
    const told = choices.length === 0 ? {} : { choices };
    return [{ ...spelling, ...told, description: describedKey(key as keyof ExperimentFile) }];
  });
  const limits = Object.entries(Limits.shape).map(
    ([key, schema]): Flag => ({
      flags: `--${key.replaceAll('_', '-')} <n>`,
      description: `limit: ${descriptionOf(schema)}${usualLimit(key as keyof Limits)}`,
      parse: anyNumber,
    }),
  );
  return [...keys, ...innerFlags.map(({ flag }) => flag), ...limits];
}

/**
 * The experiment that a file and flags describe together; flags win.
 * @param usual values used if neither sets the key
 * @throws UserError naming the file, the key and the fix
 */
export function readExperiment(
  path: string | undefined,
  options: object,
  usual: Readonly<Record<string, unknown>> = {},
): ExperimentFile {
  const file = path === undefined ? noFile : readYaml(path);
  const value = givenOf(file.keys, options, usual);
  const parsed = ExperimentFile.safeParse(value);
  if (parsed.success) return parsed.data;
  // Flags may replace what the file says.
  const isOfFile = (keys: readonly PropertyKey[]) =>
    Object.hasOwn(file.keys, keys[0] ?? '') && valueAt(file.keys, keys) === valueAt(value, keys);
  const lineOf = (keys: readonly PropertyKey[]) => (isOfFile(keys) ? file.lineOf(keys) : null);
  const problems = problemLines(parsed.error, { schema: ExperimentFile, value, lineOf });
  throw new UserError(
    'bad_experiment',
    `${path ?? 'The flags'} can't be used:\n${problems.join('\n')}`,
    path === undefined
      ? 'Add --help to the command to see its flags.'
      : 'docs/reference/experiment-file.md describes every key of the file.',
  );
}

/** The keys of an experiment file that are set, in the file or by flags, and not left to their defaults. */
export function keysSet(path: string | undefined, options: object): ReadonlySet<string> {
  return new Set(Object.keys(givenOf(path === undefined ? {} : readYaml(path).keys, options)));
}

function givenOf(
  fromFile: Readonly<Record<string, unknown>>,
  options: object,
  usual: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const flags: Readonly<Record<string, unknown>> = { ...options };
  if (flags.seed !== undefined && flags.seeds !== undefined)
    throw new UserError('bad_flag', '--seed and --seeds contradict each other.', 'Leave one of them out.');
  const given: Record<string, unknown> = { ...usual, ...fromFile };
  for (const key of ['limits', 'prices'] as const)
    if (usual[key] !== undefined && fromFile[key] !== undefined)
      given[key] = { ...(usual[key] as object), ...(fromFile[key] as object) };
  for (const [key, spelling] of Object.entries(spellings)) {
    const value = spelling === null ? undefined : flags[flagName(spelling.flags)];
    if (value !== undefined) given[key] = value;
  }
  const limits = Object.keys(Limits.shape).flatMap((key) => {
    const value = flags[camel(key)];
    return value === undefined ? [] : [[key, value]];
  });
  if (limits.length > 0)
    given.limits = { ...(given.limits as object | undefined), ...Object.fromEntries(limits) };
  for (const { flag, path } of innerFlags) {
    const value = flags[flagName(flag.flags)];
    if (value !== undefined) setInside(given, path, value);
  }
  return given;
}

/** Sets a nested value without changing the objects that contain it. */
function setInside(
  target: Record<string, unknown>,
  path: readonly (string | undefined)[],
  value: unknown,
): void {
  const [key, ...rest] = path;
  if (key === undefined) return;
  if (rest.every((name) => name === undefined)) {
    target[key] = value;
    return;
  }
  const inner = z.record(z.string(), z.unknown()).safeParse(target[key]);
  const copy = { ...inner.data };
  target[key] = copy;
  setInside(copy, rest, value);
}

interface ReadYaml {
  keys: Record<string, unknown>;
  lineOf: (field: readonly PropertyKey[]) => number | null;
}

const noFile: ReadYaml = { keys: {}, lineOf: () => null };

function readYaml(path: string): ReadYaml {
  let content: unknown;
  const lines = new LineCounter();
  let document: Document;
  try {
    document = parseDocument(readFileSync(path, 'utf8'), { lineCounter: lines, logLevel: 'error' });
    const [wrong] = [...document.errors, ...document.warnings];
    if (wrong !== undefined) throw wrong;
    content = document.toJS();
  } catch (error) {
    if (hasCode(error, 'ENOENT'))
      throw new UserError(
        'bad_experiment',
        `There is no experiment file ${path}.`,
        'Give a YAML file, or name tasks with --task or --suite.',
      );
    if (hasCode(error, 'EISDIR'))
      throw new UserError('bad_experiment', `${path} is a folder.`, 'Give a YAML file.');
    throw new UserError(
      'bad_experiment',
      `${path} can't be read as an experiment: ${messageOf(error)}`,
      'Give a YAML file.',
      {
        cause: error,
      },
    );
  }
  const record = z.record(z.string(), z.unknown()).safeParse(content);
  if (record.success) return { keys: record.data, lineOf: (field) => lineOfField(document, lines, field) };
  throw new UserError('bad_experiment', `${path} has no keys.`, 'Start with a line such as: tasks: [digits]');
}

/** The description of a key, with its choices and its default if the text does not name them. */
function describedKey(key: keyof ExperimentFile): string {
  const text = descriptionOf(ExperimentFile.shape[key]);
  const { choices, usual } = plainValues(ExperimentFile.shape[key]);
  const told = [
    ...(choices.every((choice) => text.includes(choice)) ? [] : [choices.join(', ')]),
    ...(usual === null || text.includes('default') ? [] : [`default: ${usual}`]),
  ];
  return told.length === 0 ? text : `${text} (${told.join('; ')})`;
}

/** The names that a schema accepts, and its default if that is a text or a number. */
function plainValues(schema: unknown): { choices: string[]; usual: string | null } {
  if (schema instanceof z.ZodEnum) return { choices: schema.options.map(String), usual: null };
  if (schema instanceof z.ZodOptional) return plainValues(schema.unwrap());
  if (!(schema instanceof z.ZodDefault)) return { choices: [], usual: null };
  const usual = schema.def.defaultValue;
  const isPlain = typeof usual === 'string' || typeof usual === 'number';
  return { ...plainValues(schema.unwrap()), usual: isPlain ? String(usual) : null };
}

/** Empty if the schema says it, or if there is no default. */
function usualLimit(key: keyof Limits): string {
  const usual = defaultLimits[key];
  return usual === undefined ? '' : `; default: the task's, else ${usual}`;
}

function descriptionOf(schema: z.ZodType): string {
  return schema.description ?? '';
}

function flagName(flags: string): string {
  return camel(flags.replace(/^--/, '').replace(/ .*/, ''));
}

function camel(text: string): string {
  return text.replaceAll(/[-_](.)/g, (_, letter: string) => letter.toUpperCase());
}

/** `3` means the seeds 0, 1, 2; `4,7` only these two; `4-7` the seeds from 4 to 7. */
function seedsOf(text: string, flag: string): unknown {
  const range = /^(\d+)-(\d+)$/.exec(text);
  const [first, last] = [Number(range?.[1]), Number(range?.[2])];
  if (range !== null && first <= last && last - first < maxSeeds)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  if (/^\d+$/.test(text)) return Number(text);
  if (/^\d+(,\d+)+$/.test(text)) return text.split(',').map(Number);
  throw new UserError(
    'bad_flag',
    `${flag} ${text}: not valid seeds.`,
    'Give how many (--seeds 3), which (--seeds 4,7 or --seeds 4-7), or one (--seed 4).',
  );
}

const maxSeeds = 10_000;
