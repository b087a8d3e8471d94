/** A word of a shell command: as it is written, and without quotes. */
export interface CommandWord {
  written: string;
  plain: string;
}

const quoted = /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)|[^\s'"\\]+/gs;
const words = /(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+|['"\\]/gs;

/** The words of a shell command, and what is between them; together they are the command. */
export function commandWords(command: string): (CommandWord | string)[] {
  const parts: (CommandWord | string)[] = [];
  let end = 0;
  for (const { 0: written, index } of command.matchAll(words)) {
    if (index > end) parts.push(command.slice(end, index));
    parts.push({ written, plain: unquoted(written) });
    end = index + written.length;
  }
  return end < command.length ? [...parts, command.slice(end)] : parts;
}

/** The words alone, without quotes. */
export function plainWords(command: string): string[] {
  return commandWords(command).flatMap((word) => (typeof word === 'string' ? [] : [word.plain]));
}

function unquoted(word: string): string {
  return word.replaceAll(quoted, (whole, single?: string, double?: string, escaped?: string) => {
    if (double !== undefined) return double.replaceAll(/\\([\\"$`])/g, '$1');
    return single ?? escaped ?? whole;
  });
}
