import fc from 'fast-check';
import { actionDefinitions } from '../src/environment/index.ts';

const definitions = [...actionDefinitions.values()];
const names = definitions.map(({ name }) => name);
const argumentNames = [...new Set(definitions.flatMap(({ schema }) => Object.keys(schema.shape)))];

/** Texts that break programs: control characters, half characters, other programs' syntax, sheer length. */
const nastyText = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom('', ' ', '\0', 'a\0b', '\ud800', 'x\udfff.py', '\n', '\u202e', 'NaN', '-1'),
  },
  { weight: 2, arbitrary: fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty') },
  { weight: 1, arbitrary: fc.integer({ min: 1_000, max: 300_000 }).map((length) => 'x'.repeat(length)) },
  { weight: 1, arbitrary: fc.integer({ min: 100, max: 50_000 }).map((length) => 'é\n'.repeat(length)) },
);

const nastyPath = fc.oneof(
  fc.constantFrom(
    ...[
      '..',
      '../..',
      '/',
      '/etc/passwd',
      '/workspace/../etc/passwd',
      '/proc/self/environ',
      '/dev/zero',
      '~',
    ],
    ...[
      '.',
      './',
      '//',
      'train.py/',
      'train.py/x',
      'data',
      'data/',
      'data/train.csv',
      'data/../train.py',
      'C:\\x',
    ],
    ...[
      '%2e%2e/%2e%2e',
      '.outputs',
      '.outputs/../..',
      'a/b/c/../../../..',
      '-rf',
      '--help',
      '$(id)',
      '`id`',
      '*',
    ],
  ),
  fc.array(fc.constantFrom('..', '.', 'a', 'data', '', 'train.py', '\0', '…'), { maxLength: 12 }).map(joined),
  fc.integer({ min: 100, max: 40_000 }).map((depth) => 'd/'.repeat(depth)),
  fc.integer({ min: 100, max: 40_000 }).map((depth) => '../'.repeat(depth)),
  fc.integer({ min: 200, max: 5_000 }).map((length) => 'n'.repeat(length)),
  nastyText,
);

/** Any JSON value, also deep ones, and values that JSON can't represent. */
const junk = fc.oneof(
  { weight: 6, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  {
    weight: 3,
    arbitrary: fc.anything({ withBigInt: true, withDate: true, withMap: true, withSparseArray: true }),
  },
  { weight: 1, arbitrary: fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -0, 1e308, 2 ** 53) },
  { weight: 1, arbitrary: fc.integer({ min: 100, max: 50_000 }).map(nested) },
);

const name = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...names) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(...names).map((known) => known.toLowerCase().replaceAll(' ', '_')),
  },
  { weight: 1, arbitrary: nastyText },
);

const argumentsRecord = fc
  .tuple(
    fc.array(
      fc.tuple(
        fc.oneof(
          { weight: 6, arbitrary: fc.constantFrom(...argumentNames) },
          { weight: 1, arbitrary: nastyText },
        ),
        fc.oneof(nastyPath, nastyText, junk),
      ),
      { maxLength: 5 },
    ),
    fc.boolean(),
  )
  .map(([entries, withPrototype]) => {
    // As JSON.parse makes it: a property of its own.
    const record = withPrototype ? JSON.parse('{"__proto__": {"file_name": "train.py"}}') : {};
    for (const [key, value] of entries) Object.defineProperty(record, key, { value, ...plain });
    return record as unknown;
  });

const plain = { enumerable: true, configurable: true, writable: true };

/** The right arguments with one of them corrupted. */
const nearlyRight = fc.constantFrom(...definitions).chain(({ name: known, schema }) => {
  const keys = Object.keys(schema.shape);
  return fc
    .tuple(
      fc.constantFrom('', ...keys),
      fc.oneof(junk, nastyText),
      fc.array(nastyPath, { minLength: 3, maxLength: 3 }),
    )
    .map(([spoilt, value, paths]) => ({
      name: known,
      args: Object.fromEntries(
        keys.map((key, index): [string, unknown] => [key, key === spoilt ? value : paths[index]]),
      ),
    }));
});

/** What a confused or hostile agent may submit instead of an action. */
const malformedAction: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: nearlyRight },
  { weight: 5, arbitrary: fc.record({ name, args: argumentsRecord }) },
  { weight: 1, arbitrary: fc.record({ name: fc.oneof(name, junk), args: junk }, { requiredKeys: [] }) },
  { weight: 1, arbitrary: junk },
);

/** The same actions for the same seed. Final Answer is left out if it would rightly end the run. */
export function malformedActions(count: number, seed: number): unknown[] {
  return fc.sample(
    malformedAction.filter((action) => !endsRun(action)),
    { numRuns: count, seed },
  );
}

function endsRun(action: unknown): boolean {
  if (typeof action !== 'object' || action === null || !('args' in action)) return false;
  if (!('name' in action) || action.name !== 'Final Answer') return false;
  const schema = actionDefinitions.get(action.name)?.schema;
  // A date becomes a string in JSON.
  return [action.args, asJson(action.args)].some((args) => schema?.safeParse(args).success === true);
}

function asJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return null;
  }
}

function joined(parts: readonly string[]): string {
  return parts.join('/');
}

function nested(depth: number): unknown {
  return JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
}
