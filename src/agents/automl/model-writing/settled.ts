/**
 * Prepares one of automl's own scripts for another run. The first run finds out how much fits into its time; another
 * one must not decide differently only because the machine is busier. So the decisions in the first output are written
 * into the script: the models in its blend.
 */
export function settledScript(source: string, printed: string): string {
  // A single model may have been measured on only some of the folds for lack of time, so the script stays unchanged.
  if (weightsIn(printed).length < 2) return source;
  const seconds = Number(/^SECONDS = (\d+)$/m.exec(source)?.[1]);
  return withValues(source, {
    MEMBERS: JSON.stringify(membersIn(printed)).replaceAll(',', ', '),
    SECONDS: String(spare * seconds),
  });
}

/** The models that have a weight in the blend. */
export function membersIn(printed: string): string[] {
  return weightsIn(printed).flatMap(({ name, weight }) => (weight > 0 ? [name] : []));
}

function weightsIn(printed: string): { name: string; weight: number }[] {
  const lines = printed.matchAll(/^(\w+): \S+ alone, ([\d.]+) of the blend$/gm);
  return [...lines].map(([, name = '', weight]) => ({ name, weight: Number(weight) }));
}

/** Models that are known to fit may take this many times longer than expected. */
const spare = 3;

function withValues(source: string, values: Readonly<Record<string, string>>): string {
  let text = source;
  for (const [name, value] of Object.entries(values))
    text = text.replace(new RegExp(`^${name} = (?:\\[[^\\]]*\\]|.*)$`, 'm'), () => `${name} = ${value}`);
  return text;
}
