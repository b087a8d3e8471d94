import { actionLabel, inputLabel, type Label, observationLabel, type ReplyFormat } from './labels.ts';

/**
 * The text under each label of the format, trimmed. Of a label that occurs twice, the occurrence that is spelled as
 * requested counts, or else the first one; the other is text. `action` and `inputEnd` are the bounds of the turn:
 * entries may also follow it.
 */
export function collectEntries(
  text: string,
  labels: readonly Label[],
  format: ReplyFormat,
  action: { start: number; inputEnd: number },
): Record<string, string> {
  const imagined = labels.find(({ name, start }) => name === observationLabel && start >= action.inputEnd);
  const end = imagined?.start ?? text.length;
  const inReach = labels.filter(
    ({ start }) => start < action.start || (start >= action.inputEnd && start < end),
  );
  const chosen = new Map<string, Label>();
  for (const name of format.entries) {
    const all = inReach.filter((label) => label.name === name);
    const label = all.find(({ renamed }) => !renamed) ?? all[0];
    if (label !== undefined) chosen.set(name, label);
  }
  const borders = [...chosen.values(), ...inReach.filter(isActionLabel)].map(({ start }) => start);
  borders.push(action.start, end);
  return Object.fromEntries(
    [...chosen].map(([name, label]) => {
      const next = Math.min(...borders.filter((border) => border > label.start));
      return [name, text.slice(label.end, next).trim()];
    }),
  );
}

function isActionLabel({ name, start }: Label): boolean {
  return (name === actionLabel || name === inputLabel) && start >= 0;
}
