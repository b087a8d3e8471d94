import type { Action } from '../schema/index.ts';

const longestName = 200;
/** Files are written through arguments, so this is beyond what any model writes. */
const longestArguments = 2 ** 25;
/** Whether a deeper value can be written depends on the room that the stack has left: a resumed run could differ. */
const deepest = 200;

/** No action has more than a few; each that it does not know is looked into. */
const mostNames = 1_000;

/** What an agent asked for, made into something that can be judged, recorded and compared. */
export interface AskedAction extends Action {
  /** The arguments as JSON text, as the trace keeps them. */
  text: string;
  /** Why the arguments are none; null when they are an object. */
  problem: string | null;
}

/**
 * Agents parse model replies, so anything can come. What is returned is what a reader of the trace gets back from
 * `text`: undefined, NaN, dates and the like have become what JSON makes of them.
 */
export function readAction(asked: unknown): AskedAction {
  try {
    const { name, args } = partsOf(asked);
    return { name: nameOf(name), ...readArguments(args) };
  } catch {
    // A getter or a proxy that throws.
    return { name: 'unreadable', ...unusable('The action can not be read.') };
  }
}

function partsOf(asked: unknown): { name: unknown; args: unknown } {
  if (typeof asked !== 'object' || asked === null) return { name: asked, args: {} };
  return { name: 'name' in asked ? asked.name : undefined, args: 'args' in asked ? asked.args : undefined };
}

function nameOf(name: unknown): string {
  const text = typeof name === 'string' ? name : (JSON.stringify(name) ?? typeof name);
  if (typeof name === 'object' && isDeep(JSON.parse(text))) throw new TypeError('nested too deeply');
  return text.slice(0, longestName).toWellFormed();
}

function readArguments(args: unknown): Omit<AskedAction, 'name'> {
  if (args === undefined) return unusable('The arguments are missing: give a JSON object.');
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    const kind = args === null ? 'null' : Array.isArray(args) ? 'an array' : `a ${typeof args}`;
    return unusable(`The arguments must be a JSON object, not ${kind}.`);
  }
  try {
    const text = JSON.stringify(args);
    if (text.length > longestArguments) return unusable('The arguments are longer than 32 Mi characters.');
    const copy: unknown = JSON.parse(text);
    if (typeof copy !== 'object' || copy === null || Array.isArray(copy)) throw new TypeError('no object');
    if (Object.keys(copy).length > mostNames)
      return unusable(`The arguments have more than ${mostNames} names.`);
    if (isDeep(copy)) throw new TypeError('nested too deeply');
    return { args: Object.fromEntries(Object.entries(copy)), text, problem: null };
  } catch {
    return unusable('The arguments can not be written as JSON, or are nested too deeply.');
  }
}

function unusable(problem: string): Omit<AskedAction, 'name'> {
  return { args: {}, text: '{}', problem };
}

/** Of a value that JSON.parse made: nothing in it leads back to itself. */
function isDeep(value: unknown, left: number = deepest): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some((inner) => isDeep(inner, left - 1));
}
