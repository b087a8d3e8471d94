/**
 * Finds the labels of a reply ("Thought:", "**Action Input:**", "## Action", …). Models rename them a little, put
 * Markdown around them, forget the colon, or run everything into one line.
 */

/** What the agent asked for: its labels in order, without Action and Action Input, which end every format. */
export interface ReplyFormat {
  readonly entries: readonly string[];
}

export const actionLabel = 'Action';
export const inputLabel = 'Action Input';
/** The model must not write it: what follows it is imagined. */
export const observationLabel = 'Observation';

export interface Label {
  /** The name in the format, however the model wrote it. */
  name: string;
  /** Where the label begins, with the Markdown before it. */
  start: number;
  /** Where the text after the label begins. */
  end: number;
  /** Written with another name than the format's. */
  renamed: boolean;
}

/**
 * How labels are distinguished from other text.
 * - `line`: at the start of a line, with a colon or alone on the line
 * - `no_colon`: at the start of a line, spelled exactly
 * - `inline`: anywhere, spelled exactly and with a colon, or as a key of JSON
 */
export type LabelStyle = 'line' | 'no_colon' | 'inline';

const otherNames: Readonly<Record<string, readonly string[]>> = {
  [actionLabel]: ['Next Action', 'Action Name', 'Tool Name', 'Tool'],
  [inputLabel]: [
    ...[
      'Action Inputs',
      'Action Arguments',
      'Action Parameters',
      'Action Args',
      'Tool Input',
      'Tool Arguments',
    ],
    ...['Arguments', 'Parameters', 'Input'],
  ],
  [observationLabel]: ['Observations'],
  'Research Plan and Status': [
    ...[
      'Updated Research Plan and Status',
      'Research Plan & Status',
      'Research Plan',
      'Plan and Status',
      'Plan',
    ],
  ],
  'Fact Check': ['Fact Checks', 'Fact Checking', 'Check'],
  Thought: ['Thoughts'],
  Reflection: ['Reflections'],
};

/** All labels of one style, in the order of the text. */
export function findLabels(text: string, format: ReplyFormat, style: LabelStyle): Label[] {
  const names = [...new Set([...format.entries, actionLabel, inputLabel, observationLabel])];
  const spellings = new Map(names.map((name) => [keyOf(name), name]));
  for (const name of style === 'line' ? names : []) {
    for (const other of otherNames[name] ?? []) {
      if (!spellings.has(keyOf(other))) spellings.set(keyOf(other), name);
    }
  }
  const written = style === 'line' ? [...names, ...names.flatMap((name) => otherNames[name] ?? [])] : names;
  const found: Label[] = [];
  for (const match of text.matchAll(labelPattern(written, style))) {
    const spelling = match.groups?.name ?? '';
    const name = spellings.get(keyOf(spelling));
    if (name === undefined) continue;
    found.push({
      name,
      start: match.index,
      end: match.index + match[0].length,
      renamed: keyOf(spelling) !== keyOf(name),
    });
  }
  return found;
}

function labelPattern(spellings: readonly string[], style: LabelStyle): RegExp {
  const gap = style === 'line' ? '[ \\t\\\\_-]*' : '[ _]?';
  const name = `(?<name>${[...spellings]
    .sort((a, b) => b.length - a.length)
    .map((spelling) =>
      spelling
        .split(/[\s_-]+/)
        .map(escaped)
        .join(gap),
    )
    .join('|')})`;
  if (style === 'no_colon') return new RegExp(`^[ \\t]*${name}(?:[ \\t]*:|(?=[ \\t]|$))`, 'gm');
  if (style === 'inline') return new RegExp(`(?<!\\w)${name}["'*]*[ \\t]*:`, 'gi');
  // Bounded repetitions instead of `*`, so that a line of only asterisks is not matched in every possible way.
  const before = '[ \\t>*_#`~+•–\\[<("\'-]{0,16}(?:\\d{1,2}[.)][ \\t]{0,4})?[*_`\\["\']{0,4}';
  const after = '[*_`\\]>)"\']{0,4}[ \\t]{0,8}(?:[*_`]{0,4}[:：][*_`]{0,4}|(?=\\r?$))';
  return new RegExp(`^${before}${name}${after}`, 'gim');
}

function keyOf(label: string): string {
  return label.toLowerCase().replace(/[^a-z0-9&]/g, '');
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
