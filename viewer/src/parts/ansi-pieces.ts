import Anser from 'anser';

export interface AnsiPiece {
  text: string;
  /** Class names of the style sheet: `ansi-red`, `ansi-bold`. */
  classes: string[];
}

/**
 * What a terminal would show of this text: lines overwritten with a carriage return are shown in their last state,
 * colours become class names, and all other control sequences are dropped.
 */
export function ansiPieces(text: string): AnsiPiece[] {
  const shown = withoutControls(overwritten(text));
  return Anser.ansiToJson(shown, { use_classes: true, remove_empty: true, json: true }).map((piece) => ({
    text: piece.content.replace(otherControls, ''),
    classes: [
      ...(piece.fg === null ? [] : [piece.fg]),
      ...(piece.bg === null ? [] : [`${piece.bg}-bg`]),
      ...piece.decorations.map((decoration) => `ansi-${decoration}`),
    ].filter((name) => plainClass.test(name)),
  }));
}

/** Progress bars rewrite one line many times. */
function overwritten(text: string): string {
  if (!text.includes('\r')) return text;
  return text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => {
      const parts = line.split('\r').filter((part) => part !== '');
      return parts.at(-1) ?? '';
    })
    .join('\n');
}

const plainClass = /^[a-z][a-z-]*$/;
/** Window titles, links, cursor movements: everything but colours (`m`). */
const commands =
  // biome-ignore lint/complexity/useRegexLiterals: control characters are easier to read escaped
  new RegExp(
    '\\u001b(?:\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?|\\[[0-9;?]*[ -/]*[A-Za-ln-z@`~]|[()][A-Z0-9]|[=>78cDEHMNOZ])',
    'g',
  );
// biome-ignore lint/complexity/useRegexLiterals: control characters are easier to read escaped
const otherControls = new RegExp('[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]', 'g');

function withoutControls(text: string): string {
  return text.includes('\u001b') ? text.replace(commands, '') : text;
}
