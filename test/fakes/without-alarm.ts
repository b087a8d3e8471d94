/** A script without the first line by which the agent automl bounds the time of its tries. */
export function withoutAlarm(source: string): string {
  return source.replace(/^__import__\("signal"\)\.alarm\(\d+\).*\n/, '');
}
