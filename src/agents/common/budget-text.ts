import type { Budget } from '../../schema/index.ts';

/** The remaining budget in a few words. */
export function budgetText({ steps_left, seconds_left, tokens_left, money_left }: Budget): string {
  const parts = [`${steps_left} steps`, durationText(seconds_left)];
  if (tokens_left !== null) parts.push(`${Math.max(0, Math.floor(tokens_left))} tokens`);
  if (money_left !== null) parts.push(`$${Math.max(0, money_left).toFixed(2)}`);
  return parts.join(', ');
}

function durationText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 120) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
