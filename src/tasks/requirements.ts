/** One line of a requirements.txt that is not an exact pin. */
export interface LooseRequirement {
  /** From 1. */
  line: number;
  text: string;
}

/** `name==version`, optionally with extras and an environment marker. */
const pinned = /^[A-Za-z0-9][\w.-]*(\[[\w.,\s-]+\])?\s*==\s*[A-Za-z0-9][\w.+!-]*(\s*;.+)?$/;

function withoutComment(line: string): string {
  return line.replace(/(^|\s)#.*$/, '').trim();
}

export function looseRequirements(text: string): LooseRequirement[] {
  return text
    .split(/\r?\n/)
    .map((line, index) => ({ line: index + 1, text: withoutComment(line) }))
    .filter((line) => line.text !== '' && !pinned.test(line.text));
}

/**
 * The requirements without comments, order, case and spelling variants of names: texts that mean the same
 * environment become the same lines.
 */
export function normaliseRequirements(text: string): string[] {
  const lines = text
    .split(/\r?\n/)
    .map(withoutComment)
    .filter((line) => line !== '')
    .map((line) => {
      const [requirement = '', ...marker] = line.split(';');
      const compact = requirement.replace(/\s+/g, '');
      const name = compact.replace(/[=[<>!~].*$/, '');
      const rest = compact.slice(name.length);
      const spelled = name.toLowerCase().replace(/[-_.]+/g, '-') + rest;
      return marker.length === 0 ? spelled : `${spelled}; ${marker.join(';').trim()}`;
    });
  return [...new Set(lines)].sort();
}
