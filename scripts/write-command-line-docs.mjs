/**
 * Writes the generated part of docs/command-line.md (commands, arguments, flags, examples) from the definitions of the
 * command line. A test fails while it is out of date. Needs a Node that runs TypeScript: `npm run node
 * scripts/write-command-line-docs.mjs`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { severalWords } from '../src/cli/verb.ts';
import { verbs } from '../src/cli/verbs.ts';

export const docsFile = join(import.meta.dirname, '../docs/command-line.md');
const begin = '<!-- generated: begin (npm run node scripts/write-command-line-docs.mjs) -->';
const end = '<!-- generated: end -->';

/** The page with its generated part renewed. */
export async function renewed(page) {
  const [before, rest = ''] = page.split(begin);
  const [, after] = rest.split(end);
  if (after === undefined) throw new Error(`${docsFile} has lost the marks of its generated part`);
  const sections = [];
  for (const entry of verbs) sections.push(section(entry, await entry.load()));
  return `${before}${begin}\n\n${sections.join('\n\n')}\n\n${end}${after}`;
}

function section({ name, summary }, { arguments: args, flags, examples, details, negative }) {
  const usage = [
    'mlab',
    name,
    ...args.map((argument) => argument.name),
    ...(flags.length > 0 ? ['[flags]'] : []),
  ];
  const rows = [...args.map(({ name: shown, description }) => [shown, description]), ...flags.map(flagRow)];
  const table = rows.map(([shown, description]) => `| \`${shown}\` | ${escaped(description)} |`);
  return [
    `### mlab ${name}`,
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}: \`${usage.join(' ')}\``,
    ...(details === undefined ? [] : [escaped(details)]),
    ...(negative === undefined ? [] : [`Exit code 1: ${escaped(negative)}.`]),
    ...(table.length === 0 ? [] : [['| | |', '|---|---|', ...table].join('\n')]),
    ...(examples.length === 0
      ? []
      : [`\`\`\`sh\n${examples.map(([line, meaning]) => `${line}   # ${meaning}`).join('\n')}\n\`\`\``]),
  ].join('\n\n');
}

function flagRow({ flags, description, default: initial, many }) {
  const more = [
    ...(many === undefined ? [] : [severalWords[many]]),
    ...(initial === undefined ? [] : [`default: ${initial}`]),
  ];
  return [flags, more.length === 0 ? description : `${description} (${more.join('; ')})`];
}

function escaped(text) {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(docsFile, await renewed(readFileSync(docsFile, 'utf8')));
}
