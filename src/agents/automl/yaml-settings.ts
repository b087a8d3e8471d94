/** Files of YAML in a script's text; see `readScript`. */
const sections = /(?<=\n# ---- [\w-]+\.ya?ml ----\n)[\s\S]*?(?=\n# ---- |$)/g;
/** `epochs: 7  # at least`, at any depth. */
const setting = /^[ \t]*(?:- )?(?<name>[A-Za-z_][\w-]*):[ \t]+(?<literal>[-+\d.][\w.+-]*)[ \t]*(?:#.*)?$/gm;

/** A value in a file of YAML that starts as a number does, and where it stands. */
export interface YamlSetting {
  name: string;
  literal: string;
  from: number;
  to: number;
}

export function yamlSettings(source: string): YamlSetting[] {
  return [...source.matchAll(sections)].flatMap(({ 0: text, index: start }) =>
    [...text.matchAll(setting)].map(({ 0: line, index, groups: { name = '', literal = '' } = {} }) => {
      const from = start + index + line.indexOf(literal, line.indexOf(':') + 1);
      return { name, literal, from, to: from + literal.length };
    }),
  );
}

/** The same text, of the same length, without what is in files of YAML: the rest is Python. */
export function withoutYaml(source: string): string {
  return source.replace(sections, (text) => text.replace(/[^\n]/g, ' '));
}
