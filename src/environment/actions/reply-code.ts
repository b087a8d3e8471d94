/** The code in a model's reply, or why there is none. */
export type ReplyCode = { ok: true; code: string; notice: string | null } | { ok: false; problem: string };

interface Block {
  label: string;
  lines: string[];
}

interface OpenBlock {
  block: Block;
  fence: string;
  indent: number;
}

const opening = /^(?<indent>[ \t]*)(?<fence>`{3,}|~{3,}(?!~))(?<label>[^`]*)$/;
/** CodeLlama's marker of code, which it usually ends with a fence. */
const openingTag = '[PYTHON]';
const closingTag = '[/PYTHON]';
const pythonLabels: ReadonlySet<string> = new Set(['python', 'python3', 'py']);
const statement =
  /^\s*(import|from|def|class|with|for|while|if|try|pass|return|raise|break|continue|del|global|assert|yield)\b/;

/**
 * Extracts the code from a reply: its only fenced block; of several, the one longer than all others together; without
 * any, the whole reply, but only for Python, as other text can't be distinguished from prose.
 */
export function codeOfReply(reply: string, { python }: { python: boolean }): ReplyCode {
  const { blocks, isOpen } = blocksOf(reply.replaceAll('\r\n', '\n').split('\n'));
  if (isOpen) return problem('its code block does not end, so part of it is missing');
  if (blocks.length === 0) return bareCode(reply, python);
  const filled = blocks.filter(({ lines }) => lines.some((line) => line.trim() !== ''));
  if (filled.length === 0) return problem('its code block is empty');
  const labelled = filled.filter(({ label }) => pythonLabels.has(label));
  const candidates = (python && labelled.length > 0 ? labelled : filled).map(({ lines }) => lines.join('\n'));
  const longest = candidates.reduce((best, code) => (code.length > best.length ? code : best), '');
  const others = candidates.reduce((sum, code) => sum + code.length, 0) - longest.length;
  if (others >= longest.length) {
    return problem(`it contains ${candidates.length} code blocks, and it is not clear which one is meant`);
  }
  const notice =
    blocks.length === 1 ? null : `The reply held ${blocks.length} code blocks; one of them was taken.`;
  return { ok: true, code: longest, notice };
}

function bareCode(reply: string, python: boolean): ReplyCode {
  const code = reply.replaceAll('\r\n', '\n').replace(/^(?:[^\S\n]*\n)+/, '');
  if (code.trim() === '') return problem('it is empty');
  // A word or two would parse as Python.
  if (!python || !(/[=([:@#]/.test(code) || statement.test(code)))
    return problem('it contains no code block');
  return { ok: true, code: code.trimEnd(), notice: null };
}

function blocksOf(lines: readonly string[]): { blocks: Block[]; isOpen: boolean } {
  const blocks: Block[] = [];
  let open: OpenBlock | null = null;
  const last = lines.findLastIndex((line) => line.trim() !== '');
  for (const [index, line] of lines.entries()) {
    if (open !== null && closes(line, open, index === last)) {
      blocks.push({ ...open.block, lines: withoutIndent(open.block.lines, open.indent) });
      open = null;
    } else if (open !== null) open.block.lines.push(line);
    else open = opened(line);
  }
  return { blocks, isOpen: open !== null };
}

function opened(line: string): OpenBlock | null {
  if (line.trim() === openingTag) {
    return { block: { label: 'python', lines: [] }, fence: '```', indent: 0 };
  }
  const { indent = '', fence, label = '' } = opening.exec(line)?.groups ?? {};
  if (fence === undefined) return null;
  const word = label.trim().split(/[\s{]/)[0]?.toLowerCase() ?? '';
  return { block: { label: word, lines: [] }, fence, indent: indent.length };
}

/** A more deeply indented fence belongs to the code, for example to a string in it, unless it ends the reply. */
function closes(line: string, { fence, indent }: OpenBlock, isLast: boolean): boolean {
  const text = line.trim();
  if (text === closingTag) return true;
  if (text.length < fence.length || text.replaceAll(fence.charAt(0), '') !== '') return false;
  return isLast || line.length - line.trimStart().length <= indent + 3;
}

/** An indented fence, in a list say, usually indents its code as well. */
function withoutIndent(lines: string[], indent: number): string[] {
  const isWhole = lines.every((line) => line.slice(0, indent).trim() === '');
  return isWhole ? lines.map((line) => line.slice(indent)) : lines;
}

/** A fence that the text itself can't close. */
export function fenceFor(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  return '`'.repeat(Math.max(3, longest + 1));
}

function problem(text: string): ReplyCode {
  return { ok: false, problem: text };
}
