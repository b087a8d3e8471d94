import type { Action } from '../schema/index.ts';

const longestName = 200;
/** Files are written through arguments; this is more than any model writes. */
const longestArguments = 2 ** 25;
/**
 * Beyond some depth, JSON.stringify depends on the free stack: a resumed run could differ. A fixed limit prevents that.
 */
const deepest = 200;

/** No action has more than a few names; each unknown one is compared with the known ones. */
const maxNames = 1_000;

/** An action that the agent asked for, in a form that can be checked, recorded and compared. */
export interface RequestedAction extends Action {
  /** The arguments as JSON text, as in the trace. */
  text: string;
  /** Why the arguments are invalid; null if they are an object. */
  problem: string | null;
}

/**
 * Agents parse model replies, so the value can be anything. The result is what a reader of the trace gets back from
 * `text`: undefined, NaN, dates and the like have become what JSON makes of them.
 */
export function readAction(asked: unknown): RequestedAction {
  try {
    const { name, args } = partsOf(asked);
    return { name: nameOf(name), ...readArguments(args) };
  } catch {
    // A getter or a proxy may throw.
    return { name: 'unreadable', ...unusable('The action cannot be read.') };
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

function readArguments(args: unknown): Omit<RequestedAction, 'name'> {
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
    if (Object.keys(copy).length > maxNames)
      return unusable(`The arguments have more than ${maxNames} names.`);
    if (isDeep(copy)) throw new TypeError('nested too deeply');
    return { args: Object.fromEntries(Object.entries(copy)), text, problem: null };
  } catch {
    return unusable('The arguments cannot be written as JSON, or are nested too deeply.');
  }
}

function unusable(problem: string): Omit<RequestedAction, 'name'> {
  return { args: {}, text: '{}', problem };
}

/** For values made by JSON.parse, which have no cycles. */
function isDeep(value: unknown, left: number = deepest): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some((inner) => isDeep(inner, left - 1));
}
