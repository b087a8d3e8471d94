/**
 * A script of automl's own as it is to be run again. The first run finds out how much fits into its time; another one must
 * not find something else, only because the machine is busier. So what the first one printed is written down: the models
 * that are in its blend, or how many networks there are, how wide, and for how many epochs.
 */
export function settledScript(source: string, printed: string): string {
  const network = /^networks: (\d+), width: (\d+), epochs: (\d+)$/m.exec(printed);
  if (network !== null) {
    const [, networks = '', width = '', epochs = ''] = network;
    return withValues(source, { NETWORKS: networks, WIDTH: width, EPOCHS: epochs });
  }
  // A single model may have been measured on fewer folds than there are, for want of time: so it stays.
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

/** So many times longer than expected may what is known to fit take. */
const spare = 3;

function withValues(source: string, values: Readonly<Record<string, string>>): string {
  let text = source;
  for (const [name, value] of Object.entries(values))
    text = text.replace(new RegExp(`^${name} = (?:\\[[^\\]]*\\]|.*)$`, 'm'), () => `${name} = ${value}`);
  return text;
}
