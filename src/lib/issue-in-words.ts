import type { z } from 'zod';

const types: Readonly<Record<string, string>> = {
  ...{ string: 'a text', number: 'a number', int: 'a whole number', boolean: 'true or false' },
  ...{ array: 'a list', object: 'a mapping of keys', record: 'a mapping of keys', null: 'null' },
};

const formats: Readonly<Record<string, string>> = {
  date: 'a date such as 2026-01-31',
  url: 'an address such as http://localhost:8000',
};

/** What a schema expects, in words for people who wrote a file. Messages that the schema has itself stay as they are. */
export function issueInWords(issue: z.core.$ZodIssue): string {
  if (!/^(Invalid|Too (big|small))/.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${types[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return oneOf(issue.values);
    case 'invalid_format':
      return `expected ${formats[issue.format] ?? 'another form'}`;
    case 'too_small':
      return `expected ${issue.inclusive === false ? 'more than' : 'at least'} ${sized(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `expected ${issue.inclusive === false ? 'less than' : 'at most'} ${sized(issue.maximum, issue.origin)}`;
    case 'invalid_key':
      return `not a valid name here: ${inWords(issue.issues)}`;
    case 'invalid_union':
      // No variant was tried, since none has this value in the key that distinguishes them.
      if (issue.errors.length === 0 && 'options' in issue) return oneOf(issue.options ?? []);
      return inWords(issue.errors.flatMap((issues) => issues.slice(0, 1)));
    default:
      return issue.message;
  }
}

function oneOf(values: readonly unknown[]): string {
  return `expected ${values.length > 1 ? 'one of ' : ''}${values.map(String).join(', ')}`;
}

function inWords(issues: readonly z.core.$ZodIssue[]): string {
  return [...new Set(issues.map(issueInWords))].join('; or ');
}

function sized(bound: number | bigint, origin: string): string {
  const [one, many] = origin === 'string' ? ['character', 'characters'] : ['entry', 'entries'];
  const isSize = ['string', 'array', 'set', 'map'].includes(origin);
  return isSize ? `${bound} ${Number(bound) === 1 ? one : many}` : String(bound);
}
