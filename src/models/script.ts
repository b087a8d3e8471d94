import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { messageOf, UserError } from '../lib/errors.ts';
import { ModelFailure, type ModelRequest, ModelRole, type TokenUsage } from '../schema/index.ts';
import { ProviderError, type ProviderReply } from './provider-adapter.ts';

const Tokens = z.int().min(0).default(0);

/** One entry of a script: a scripted model's reply to one request. A text alone means `{ text }`. */
export const ScriptedReply = z
  .strictObject({
    role: ModelRole.optional().describe('for requests in this role only; default: any role'),
    match: z.string().min(1).optional().describe('for requests whose last message holds this text only'),
    repeat: z.boolean().optional().describe('it may be given again and again; default: once'),
    text: z.string().optional().describe('the answer'),
    tool_calls: z
      .array(z.strictObject({ id: z.string().optional(), name: z.string(), input: z.json() }))
      .optional()
      .describe('tools that the answer calls'),
    finish: z
      .enum(['stop', 'length', 'tool_calls', 'other'])
      .optional()
      .describe('why the answer ends; default: stop, or tool_calls where it calls any'),
    provider: z.json().optional().describe("the provider's own form of the answer"),
    refused: z.string().optional().describe('instead of an answer: declined, with this message'),
    context_too_long: z.string().optional().describe('instead of an answer: the request was too long'),
    fails: z
      .strictObject({
        failure: ModelFailure,
        message: z.string().optional(),
        passing: z.boolean().optional().describe('worth another try; default: as usual for the failure'),
        retry_after_seconds: z.number().min(0).optional(),
      })
      .optional()
      .describe('instead of an answer: the try fails'),
    usage: z
      .strictObject({
        input: Tokens,
        cached_input: Tokens,
        cache_write: Tokens,
        output: Tokens,
        reasoning: Tokens,
      })
      .optional()
      .describe('tokens that the call used; default: estimated from the texts'),
  })
  .refine(
    ({ text, tool_calls, refused, context_too_long, fails }) =>
      [text ?? tool_calls, refused, context_too_long, fails].filter((part) => part !== undefined).length ===
      1,
    'give one of: text or tool_calls, refused, context_too_long, fails',
  )
  .meta({ id: 'ScriptedReply' });
export type ScriptedReply = z.infer<typeof ScriptedReply>;

/** In the form in which people write it, in a file or a test. */
export type ScriptedReplyInput = string | z.input<typeof ScriptedReply>;

export interface Script {
  name: string;
  replies: readonly ScriptedReply[];
}

/** @throws UserError naming the entry and what is wrong with it */
export function parseReply(value: unknown, where: string): ScriptedReply {
  const parsed = ScriptedReply.safeParse(typeof value === 'string' ? { text: value } : value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'entry'}: ${message}`);
  throw new UserError(
    'bad_script',
    `${where} is not a valid reply of a scripted model: ${problems.join('; ')}`,
    'An entry has text, tool_calls, refused, context_too_long or fails.',
  );
}

/**
 * Reads a script: a YAML file (`.yaml`, `.yml`) with a list of entries, or JSON lines with an entry on each line.
 * @throws UserError naming the file, the entry and what is wrong with it
 */
export function readScript(name: string, path: string): Script {
  const text = readText(path);
  const values = /\.ya?ml$/.test(path) ? yamlEntries(path, text) : jsonLines(path, text);
  return { name, replies: values.map((value, index) => parseReply(value, `${path}, entry ${index + 1},`)) };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const hint = 'Name a file with its replies: scripted/FOLDER/FILE.yaml.';
    throw new UserError('bad_script', `The script of a model can't be read: ${messageOf(error)}`, hint, {
      cause: error,
    });
  }
}

function yamlEntries(path: string, text: string): unknown[] {
  try {
    const document = parseDocument(text, { logLevel: 'error' });
    const [wrong] = [...document.errors, ...document.warnings];
    if (wrong !== undefined) throw wrong;
    return z.array(z.unknown()).parse(document.toJS());
  } catch (error) {
    const message = error instanceof z.ZodError ? 'it holds no list' : messageOf(error);
    throw new UserError(
      'bad_script',
      `${path} is not a script of a model: ${message}`,
      'Give a list: "- text: …"',
      {
        cause: error,
      },
    );
  }
}

function jsonLines(path: string, text: string): unknown[] {
  return text.split('\n').flatMap((line, index): unknown[] => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line)];
    } catch (error) {
      const message = `${path}, line ${index + 1}: ${messageOf(error)}`;
      throw new UserError('bad_script', message, 'Give one JSON object per line, or a .yaml file.', {
        cause: error,
      });
    }
  });
}

/** The position of one run in a script. */
export class ScriptPosition {
  readonly #script: Script;
  readonly #used = new Set<number>();
  #asked: number;

  /**
   * @param answeredBy the entries that answered in earlier sessions of the run: those, and failures before them, are
   *   used up
   */
  constructor(script: Script, answeredBy: readonly (string | null)[] = []) {
    this.#script = script;
    const answered = answeredBy.flatMap((name) => this.#indexOf(name));
    const last = Math.max(-1, ...answered);
    this.#asked = answered.length;
    script.replies.forEach(({ fails }, index) => {
      if (answered.includes(index) || (index < last && fails !== undefined)) this.#used.add(index);
    });
  }

  /**
   * The first unused entry that matches the role and the last message.
   * @throws ProviderError if there is none, or if the entry is a failure
   */
  next(request: ModelRequest): ProviderReply {
    this.#asked += 1;
    const { name, replies } = this.#script;
    const last = request.messages.at(-1)?.text ?? '';
    const index = replies.findIndex(
      ({ role, match, repeat = false }, place) =>
        (repeat || !this.#used.has(place)) &&
        (role === undefined || role === request.role) &&
        (match === undefined || last.includes(match)),
    );
    const reply = replies[index];
    if (reply === undefined) throw this.#ranOut(request);
    this.#used.add(index);
    return performReply(reply, `${name}#${index + 1}`);
  }

  #indexOf(answeredBy: string | null): number[] {
    const prefix = `${this.#script.name}#`;
    if (answeredBy === null || !answeredBy.startsWith(prefix)) return [];
    return [Number(answeredBy.slice(prefix.length)) - 1];
  }

  #ranOut({ role, purpose }: ModelRequest): ProviderError {
    const { name, replies } = this.#script;
    const message =
      `${name} has no reply left for request ${this.#asked} (role ${role}: ${purpose}); ` +
      `${this.#used.size} of its ${replies.length} replies are used`;
    return new ProviderError('bad_request', message, {
      isPassing: false,
      hint: 'Add a reply to the script.',
    });
  }
}

/** Failures that are not worth a retry. */
const lasting: ReadonlySet<ModelFailure> = new Set([
  'key_missing',
  'unauthorised',
  'unknown_model',
  'bad_request',
  'quota_exhausted',
] satisfies ModelFailure[]);

/** @throws ProviderError if the reply is a failure */
export function performReply(reply: ScriptedReply, answeredBy: string): ProviderReply {
  const { text = '', tool_calls = [], finish, provider, refused, context_too_long, fails, usage } = reply;
  if (fails !== undefined) {
    const { failure, message = `a scripted failure: ${failure}`, passing, retry_after_seconds } = fails;
    throw new ProviderError(failure, message, {
      isPassing: passing ?? !lasting.has(failure),
      retryAfterMs: retry_after_seconds === undefined ? null : retry_after_seconds * 1000,
      hint: 'It stands in the script.',
    });
  }
  const counted: TokenUsage | null = usage === undefined ? null : { ...usage, source: 'provider' };
  const rest = { answeredBy, usage: counted };
  if (refused !== undefined) return { answer: { kind: 'refused', message: refused }, ...rest };
  if (context_too_long !== undefined)
    return { answer: { kind: 'context_too_long', message: context_too_long }, ...rest };
  const calls = tool_calls.map(({ id, name, input }, index) => ({
    id: id ?? `${answeredBy}-${index + 1}`,
    name,
    input,
  }));
  return {
    answer: {
      kind: 'answered',
      text,
      tool_calls: calls,
      finish: finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
      ...(provider === undefined ? {} : { provider }),
    },
    ...rest,
  };
}
