import type { TaskFingerprint } from '../schema/index.ts';

/** The weights of the features; they sum to 1. docs/how-to/experience.md shows the same numbers. */
const weights = {
  modality: 0.35,
  metric: 0.25,
  target: 0.15,
  libraries: 0.15,
  size: 0.05,
  category: 0.03,
  gpu: 0.02,
} as const;

/** The similarity of two tasks, from 0 to 1: 1 for a task and itself. Symmetric. */
export function similarity(one: TaskFingerprint, other: TaskFingerprint): number {
  const parts = [
    weights.modality * overlap(wordsOf(one.modality), wordsOf(other.modality)),
    weights.metric * metricLikeness(one.metric, other.metric),
    weights.target * targetLikeness(one.target, other.target),
    weights.libraries * overlap(one.libraries, other.libraries),
    weights.size * sizeLikeness(one.size, other.size),
    weights.category * Number(one.category === other.category),
    weights.gpu * Number(one.gpu === other.gpu),
  ];
  const sum = parts.reduce((total, part) => total + part, 0);
  return Math.min(1, Number(sum.toFixed(6)));
}

/** The direction says whether it is an error or a gain, the name which one. */
function metricLikeness(one: TaskFingerprint['metric'], other: TaskFingerprint['metric']): number {
  const sameName = one.name.toLowerCase() === other.name.toLowerCase();
  return 0.4 * Number(one.direction === other.direction) + 0.6 * Number(sameName);
}

function targetLikeness(one: TaskFingerprint['target'], other: TaskFingerprint['target']): number {
  if (one === null || other === null) return Number(one === other);
  const fewOrMany = Number(one.columns.length === 1) === Number(other.columns.length === 1);
  return 0.7 * overlap(one.kind.split(', '), other.kind.split(', ')) + 0.3 * Number(fewOrMany);
}

/** By the first number in the words: a factor of 1000 counts as entirely different. */
function sizeLikeness(one: string | null, other: string | null): number {
  if (one === other) return 1;
  const [first, second] = [firstNumber(one), firstNumber(other)];
  if (first === null || second === null) return 0;
  return Math.max(0, 1 - Math.abs(Math.log10(first / second)) / 3);
}

function firstNumber(text: string | null): number | null {
  const found = text === null ? null : /\d[\d,]*(?:\.\d+)?/.exec(text);
  const value = found === null ? 0 : Number(found[0].replaceAll(',', ''));
  return value > 0 ? value : null;
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\p{L}+/gu) ?? [];
}

/** Shared members as a share of all (Jaccard index); two empty sets are equal. */
function overlap(one: readonly string[], other: readonly string[]): number {
  const all = new Set([...one, ...other]).size;
  const shared = [...new Set(one)].filter((each) => other.includes(each)).length;
  return all === 0 ? 1 : shared / all;
}
