import { importedNames, withImport } from '../python-edit.ts';

/** Fills in a candidate's code; null if a class has a name that means something else in the script. */
export function filled(
  code: string,
  source: string,
  settings: { seed: string; isBalanced: boolean },
): { code: string; imports: string[] } | null {
  const known = importedNames(source);
  const imports = new Set<string>();
  let isTaken = false;
  const text = code
    .replaceAll('{seed}', settings.seed)
    .replace(/\{balanced\}(?=\))/g, settings.isBalanced ? ', class_weight="balanced"' : '')
    .replaceAll('{balanced}', settings.isBalanced ? 'class_weight="balanced", ' : '')
    .replace(/\{([\w.]+)\.(\w+)\}/g, (_, module: string, name: string) => {
      const imported = known.get(name);
      if (
        imported === undefined &&
        new RegExp(`^\\s*(?:class|def)\\s+${name}\\b|\\b${name}\\s*=[^=]`, 'm').test(source)
      )
        isTaken = true;
      if (imported !== undefined && !new RegExp(`^sklearn\\..*\\b${name}$`).test(imported)) isTaken = true;
      imports.add(`from sklearn.${module} import ${name}`);
      return name;
    });
  return isTaken ? null : { code: text, imports: [...imports].sort() };
}

export function withImports(source: string, imports: readonly string[]): string {
  return imports.reduce((text, statement) => withImport(text, statement), source);
}

/** The script's own seed: `SEED`, `args.seed`, `0`. */
export function seedOf(source: string): string {
  const given = [...source.matchAll(/\brandom_state\s*=\s*([A-Za-z_][\w.]*|\d+)/g)].map(
    ([, value]) => value ?? '',
  );
  const constant = /^(SEED|RANDOM_STATE|RANDOM_SEED|seed|random_state)\s*(?::[^=\n]+)?=[^=]/m.exec(
    source,
  )?.[1];
  if (constant !== undefined) return constant;
  // A name may be known only in its own scope; a number is valid everywhere.
  return given.find((value) => /^\d+$|^[A-Z][A-Z_\d]*$/.test(value)) ?? '0';
}
