import { hasCode, messageOf } from '../../../lib/errors.ts';

const itemsAtOnce = 500;
/** A list that expires this often is too slow to read at any further try. */
const maxTries = 5;

/** Whether it is an answer of the API with this status. */
export function isAnswer(error: unknown, status: number): boolean {
  return error instanceof Error && 'code' in error && error.code === status;
}

/**
 * Whether the request was not refused, but got no answer: the server may have accepted it.
 * @param hasAnswered whether the server ever answered: then its name is right, and can only not be resolved at the
 *   moment
 */
export function isSilence(error: unknown, hasAnswered: boolean): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && typeof error.code === 'number') return error.code >= 500 || error.code === 429;
  if (!(error instanceof TypeError) || isDistrust(error.cause)) return false;
  if (hasCode(error.cause, 'ENOTFOUND') && !hasAnswered) return false;
  // What fetch reports for connections that were never made, and for those that broke within an answer.
  return ['fetch failed', 'terminated'].includes(error.message);
}

/** Whether a connection was refused because of its certificate: trying again does not help. */
function isDistrust(cause: unknown): boolean {
  return hasCode(cause, 'ERR_TLS_CERT_ALTNAME_INVALID') || /certificate/i.test(messageOf(cause));
}

type List<Item> = (more: { limit: number; _continue?: string }) => Promise<{
  items: Item[];
  metadata?: { _continue?: string };
}>;

/** All pages of a list. The API drops a list after some minutes: then it is read again from its start. */
export async function all<Item>(list: List<Item>): Promise<Item[]> {
  for (let tries = 1; ; tries += 1) {
    const items: Item[] = [];
    let next: string | undefined;
    try {
      do {
        const page = await list({ limit: itemsAtOnce, ...(next === undefined ? {} : { _continue: next }) });
        items.push(...page.items);
        next = page.metadata?._continue || undefined;
      } while (next !== undefined);
      return items;
    } catch (error) {
      if (next === undefined || !isAnswer(error, 410) || tries === maxTries) throw error;
    }
  }
}
