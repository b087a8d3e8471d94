import type { Execution } from './fake-environment.ts';

/** A run of a script, ended by the line with which the automl agent limits the time of its tries. */
export function endedByAlarm(source: string, execute: (plain: string) => Execution): Execution {
  const done = execute(withoutAlarm(source));
  const limit = Number(alarm.exec(source)?.[1] ?? Number.POSITIVE_INFINITY);
  if (done.seconds <= limit) return done;
  return { output: 'Alarm clock', exitCode: null, seconds: limit, status: 'failed' };
}

const alarm = /^__import__\("signal"\)\.alarm\((\d+)\).*\n/m;

/** A script without the line with which the automl agent limits the time of its tries. */
export function withoutAlarm(source: string): string {
  return source.replace(alarm, '');
}
