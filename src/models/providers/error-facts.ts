import { z } from 'zod';
import { parseShallowJson } from '../../lib/shallow-json.ts';
import { UnstreamedReply } from './guarded-fetch.ts';

/** What a provider said about an error, in whatever form. */
export interface ErrorFacts {
  /** Null for an error within a stream, which has no status. */
  status: number | null;
  /** The provider's names for it in lower case: codes, types, states, reasons. */
  codes: string[];
  message: string;
  /** What the provider sent, as text: its beginning, like that of the message. */
  body: string;
  headers: Readonly<Record<string, string>>;
}

/** The most of a text that is searched: a server may send many MiB, which would keep all other runs waiting. */
const longestText = 2 ** 16;

const ErrorObject = z.looseObject({
  message: z.string().optional(),
  code: z.union([z.string(), z.number()]).nullish().catch(null),
  type: z.string().nullish().catch(null),
  status: z.string().nullish().catch(null),
  statusCode: z.number().optional().catch(undefined),
  details: z
    .array(z.looseObject({ reason: z.string().optional().catch(undefined) }))
    .nullish()
    .catch(null),
});
type ErrorObject = z.infer<typeof ErrorObject>;

/** `{error: {…}}`, `{error: '…'}`, `{message}` and `{detail}` of many servers; Google may send a list of one. */
const ErrorBody = z.preprocess(
  (value) => (Array.isArray(value) ? value[0] : value),
  z.union([
    z.looseObject({ error: ErrorObject }).transform(({ error }) => error),
    z.looseObject({ error: z.string() }).transform(({ error, ...rest }) => ({ ...rest, message: error })),
    z.looseObject({ detail: z.string() }).transform(({ detail }) => ({ message: detail })),
    z.looseObject({ message: z.string() }),
  ]),
);

/** The provider packages' error for a reply with an error status, or for one that they could not parse. */
const CallError = z.object({
  name: z.literal('AI_APICallError'),
  message: z.string(),
  statusCode: z.number().optional(),
  responseHeaders: z.record(z.string(), z.string()).optional(),
  responseBody: z.string().optional(),
});
/** Their error for a chunk of a stream with an unexpected form, such as an error message of another kind. */
const PieceError = z.object({ name: z.literal('AI_TypeValidationError'), value: z.unknown() });

/** An error and its chain of causes. */
export function causesOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let cause = error; cause instanceof Error && !chain.includes(cause); cause = cause.cause)
    chain.push(cause);
  return chain;
}

/** What the provider said; null if the error does not come from a provider. */
export function errorFacts(error: unknown): ErrorFacts | null {
  const chain = causesOf(error);
  for (const cause of chain) {
    if (cause instanceof UnstreamedReply) return factsOfPiece(parsed(cause.body));
    const call = CallError.safeParse(cause);
    if (call.success) return factsOfCall(call.data);
    const piece = PieceError.safeParse(cause);
    if (piece.success) return factsOfPiece(piece.data.value);
  }
  // An error that a stream reported, passed on by the package.
  return factsOfPiece(chain.at(-1)?.cause);
}

/** What a provider's own reply says: one with this status, or an error within a stream (null). */
export function factsOfReply(
  status: number | null,
  headers: Readonly<Record<string, string>>,
  body: string,
): ErrorFacts | null {
  if (status === null) return factsOfPiece(parsed(body));
  return factsOfCall({
    name: 'AI_APICallError',
    message: `HTTP ${status}`,
    statusCode: status,
    responseHeaders: { ...headers },
    responseBody: body,
  });
}

function factsOfCall({
  message,
  statusCode,
  responseHeaders,
  responseBody,
}: z.infer<typeof CallError>): ErrorFacts | null {
  const said = parseErrorBody(responseBody ?? '');
  const body = (responseBody ?? '').slice(0, longestText);
  // A reply with a success status and no error in it could not be parsed. Neither could one with an invalid beginning:
  // the package for Anthropic reports that as a server error, with its own error as the body.
  if (said === null && (statusCode === undefined || statusCode < 300 || /^\{"name":"AI_\w+Error"/.test(body)))
    return null;
  const words = said?.message || [message, wordsOf(body)].filter((text) => text !== '').join(': ');
  return {
    status: statusCode ?? null,
    codes: said === null ? [] : codesOf(said),
    message: words.slice(0, longestText) || 'no reason given',
    body,
    headers: responseHeaders ?? {},
  };
}

/** A page without its tags, scripts and styles. Each expression reads every character once. */
function wordsOf(page: string): string {
  const parts = page.split(/<\/(?:script|style|title)>/i);
  const last = parts.pop() ?? '';
  const shown = parts.map((part) => part.replace(/<(?:script|style|title)[\s\S]*/i, ' '));
  return [...shown, last]
    .join(' ')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function factsOfPiece(piece: unknown): ErrorFacts | null {
  const said = ErrorBody.safeParse(piece);
  if (!said.success) return null;
  const error = ErrorObject.parse(said.data);
  const status = [error.statusCode, Number(error.code)].find(
    (value) => value !== undefined && value >= 400 && value < 600,
  );
  return {
    status: status ?? null,
    codes: codesOf(error),
    message: error.message?.slice(0, longestText) || 'no reason given',
    body: JSON.stringify(piece).slice(0, longestText),
    headers: {},
  };
}

function parseErrorBody(body: string): ErrorObject | null {
  const said = ErrorBody.safeParse(parsed(body));
  return said.success ? ErrorObject.parse(said.data) : null;
}

function parsed(body: string): unknown {
  try {
    return parseShallowJson(body);
  } catch {
    return undefined;
  }
}

function codesOf({ code, type, status, details }: ErrorObject): string[] {
  const reasons = (details ?? []).map(({ reason }) => reason);
  return [code, type, status, ...reasons].flatMap((name) =>
    name == null ? [] : [String(name).toLowerCase()],
  );
}
