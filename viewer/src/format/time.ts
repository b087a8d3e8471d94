const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const relative = new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto' });

/** Milliseconds since 1970 as a date. */
export function showDate(time: number): string {
  return date.format(time);
}

const steps = [
  { unit: 'second', seconds: 1, until: 60 },
  { unit: 'minute', seconds: 60, until: 3600 },
  { unit: 'hour', seconds: 3600, until: 86_400 },
  { unit: 'day', seconds: 86_400, until: 30 * 86_400 },
  { unit: 'month', seconds: 30 * 86_400, until: 365 * 86_400 },
  { unit: 'year', seconds: 365 * 86_400, until: Number.POSITIVE_INFINITY },
] as const;

/** How long ago: `5 minutes ago`. */
export function showAgo(time: number, now: number): string {
  const seconds = (time - now) / 1000;
  const step = steps.find(({ until }) => Math.abs(seconds) < until) ?? steps[5];
  return relative.format(Math.round(seconds / step.seconds), step.unit);
}
