/** The original's names of tasks that have another name here. */
const renamed = new Map([
  ['amp-parkinsons-disease-progression-prediction', 'parkinsons-disease'],
  ['CLRS', 'clrs'],
]);
const originals = new Map([...renamed].map(([original, ours]) => [ours, original]));

/** Our id of a task of the original; for a task that we don't have, its own name as an id. */
export function taskIdOf(original: string): string {
  return renamed.get(original) ?? slug(original, 64);
}

/** The original's name of one of our tasks. */
export function originalTaskName(id: string): string {
  return originals.get(id) ?? id;
}

/** Any text as a valid id; `unnamed` if nothing is left of it. */
export function slug(text: string, most: number): string {
  const words = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const cut = words.replace(/^-/, '').slice(0, most).replace(/-$/, '');
  return cut === '' ? 'unnamed' : cut;
}
