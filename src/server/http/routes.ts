import { z } from 'zod';
import { UserError } from '../../lib/errors.ts';
import { Convention } from '../../schema/index.ts';
import { notFound } from '../not-found.ts';
import type { Viewer } from '../viewer.ts';
import type { ViewerResponse } from './answer.ts';

interface Asked {
  viewer: Viewer;
  /** The decoded parts of the address for the names in the pattern. */
  ids: Record<string, string>;
  query: URLSearchParams;
  signal: AbortSignal;
}

type Handler = (asked: Asked) => Promise<ViewerResponse> | ViewerResponse;

const run = '/api/experiments/:experiment/runs/:run';

/** Every address below /api except the live events. */
const routes: Record<string, Handler> = {
  '/api/info': ({ viewer }) => ({ json: viewer.info() }),
  '/api/experiments': async ({ viewer }) => ({ json: viewer.experiments() }),
  '/api/experiments/:experiment': async ({ viewer, ids }) => ({
    json: await viewer.experiment(id(ids, 'experiment')),
  }),
  '/api/experiments/:experiment/report': async ({ viewer, ids, query }) => ({
    json: await viewer.report(
      id(ids, 'experiment'),
      choice(Convention.default('every_run'), query, 'convention'),
    ),
  }),
  '/api/compare': async ({ viewer, query }) => ({
    json: await viewer.compare(text(query, 'a'), text(query, 'b'), query.get('experiment')),
  }),
  [run]: async ({ viewer, ids, signal }) => ({ json: await viewer.run(...runIds(ids), signal) }),
  [`${run}/timeline`]: async ({ viewer, ids, query }) => ({
    json: await viewer.timeline(
      ...runIds(ids),
      number(query, 'from') ?? undefined,
      number(query, 'to') ?? undefined,
    ),
  }),
  [`${run}/search`]: async ({ viewer, ids, query, signal }) => ({
    json: await viewer.search(...runIds(ids), text(query, 'q'), number(query, 'from') ?? 1, signal),
  }),
  [`${run}/steps/:step`]: async ({ viewer, ids, signal }) => ({
    json: await viewer.step(...runIds(ids), stepOf(ids), signal),
  }),
  [`${run}/steps/:step/text`]: async ({ viewer, ids, query, signal }) => ({
    json: await viewer.textRest(
      ...runIds(ids),
      stepOf(ids),
      text(query, 'part'),
      number(query, 'from') ?? 0,
      signal,
    ),
  }),
  [`${run}/steps/:step/raw`]: async ({ viewer, ids, query, signal }) => ({
    download: await viewer.wholeText(...runIds(ids), stepOf(ids), text(query, 'part'), signal),
    name: `${id(ids, 'run')}-step-${stepOf(ids)}-${text(query, 'part')}.txt`,
  }),
  [`${run}/steps/:step/files`]: async ({ viewer, ids, signal }) => ({
    json: await viewer.files(...runIds(ids), stepOf(ids), signal),
  }),
  [`${run}/steps/:step/diff`]: async ({ viewer, ids, query, signal }) => {
    const step = stepOf(ids);
    const against = number(query, 'against') ?? Math.max(0, step - 1);
    return { json: await viewer.diff(...runIds(ids), step, against, signal) };
  },
  '/api/experiments/:experiment/objects/:object': ({ viewer, ids }) => ({
    json: viewer.object(id(ids, 'experiment'), id(ids, 'object')),
    lasts: true,
  }),
  '/api/experiments/:experiment/objects/:object/raw': ({ viewer, ids }) => ({
    download: viewer.objectBytes(id(ids, 'experiment'), id(ids, 'object')),
    name: `${id(ids, 'object').slice(0, 12)}.bin`,
    lasts: true,
  }),
  '/api/tasks/:task': async ({ viewer, ids }) => ({ json: await viewer.task(id(ids, 'task')) }),
};

const patterns = Object.entries(routes).map(([pattern, handler]) => ({ parts: pattern.split('/'), handler }));

/** @throws UserError; its code begins with `unknown_` if there is nothing at the address */
export async function answerTo(viewer: Viewer, url: URL, signal: AbortSignal): Promise<ViewerResponse> {
  const given = url.pathname.split('/').map(decoded);
  for (const { parts, handler } of patterns) {
    const ids = matched(parts, given);
    if (ids !== null) return await handler({ viewer, ids, query: url.searchParams, signal });
  }
  throw notFound('unknown_address', 'There is nothing at this address.', null);
}

/** The values of the named parts; null if the others differ. */
function matched(parts: readonly string[], given: readonly string[]): Record<string, string> | null {
  if (parts.length !== given.length) return null;
  const ids: [string, string][] = [];
  for (const [index, part] of parts.entries()) {
    const value = given[index] ?? '';
    if (part.startsWith(':')) ids.push([part.slice(1), value]);
    else if (part !== value) return null;
  }
  return Object.fromEntries(ids);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new UserError(
      'bad_address',
      'This address is not well-formed.',
      'Go back to the list of experiments.',
    );
  }
}

function id(ids: Asked['ids'], name: string): string {
  return ids[name] ?? '';
}

function runIds(ids: Asked['ids']): [experiment: string, run: string] {
  return [id(ids, 'experiment'), id(ids, 'run')];
}

function stepOf(ids: Asked['ids']): number {
  const step = wholeNumber(id(ids, 'step'));
  if (step !== null) return step;
  throw notFound('unknown_step', `"${id(ids, 'step')}" is not the number of a step.`, null);
}

function number(query: URLSearchParams, name: string): number | null {
  const given = query.get(name);
  if (given === null) return null;
  const value = wholeNumber(given);
  if (value !== null) return value;
  throw badQuery(name, 'give a whole number');
}

function wholeNumber(given: string): number | null {
  return /^\d{1,15}$/.test(given) ? Number(given) : null;
}

function text(query: URLSearchParams, name: string): string {
  const given = query.get(name);
  if (given !== null && given !== '') return given;
  throw badQuery(name, 'it is missing');
}

function choice<Schema extends z.ZodType>(
  schema: Schema,
  query: URLSearchParams,
  name: string,
): z.output<Schema> {
  const parsed = schema.safeParse(query.get(name) ?? undefined);
  if (parsed.success) return parsed.data;
  throw badQuery(name, z.prettifyError(parsed.error));
}

function badQuery(name: string, problem: string): UserError {
  return new UserError(
    'bad_query',
    `The part "${name}" of this address is not right: ${problem}.`,
    'Reload the page.',
  );
}
