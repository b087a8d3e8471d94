/** Where in a Python traceback something was raised: its innermost file and line. */
const frame = /^\s*File "([^"]+)", line (\d+)/;

/** What every message about a language model begins with, as its cause says too. */
const known = /^No answer from the language model: /;

/**
 * The part of an error message that says what went wrong: the last line of a Python traceback, with file and line; else
 * everything but the frames of a stack.
 */
export function crashCause(message: string): string {
  const lines = message.split(/\r?\n/).filter((line) => line.trim() !== '');
  const start = lines.findIndex((line) => line.includes('Traceback (most recent call last)'));
  if (start < 0)
    return lines
      .filter((line) => !/^ +at /.test(line))
      .join('\n')
      .trim()
      .replace(known, '');
  const rest = lines.slice(start + 1);
  // Lines of the traceback are indented; what was raised is not, and may be followed by more output.
  const raised = rest.findLast((line) => /^\S/.test(line)) ?? rest.at(-1) ?? '';
  const [, file, line] = rest.map((each) => frame.exec(each)).findLast((found) => found !== null) ?? [];
  const place = file === undefined ? '' : ` (${file.split('/').at(-1)}, line ${line})`;
  return `${raised.trim()}${place}`;
}
