/** Addresses of the pages. */

export function experimentAddress(experiment: string): string {
  return `/experiments/${encodeURIComponent(experiment)}`;
}

export function runAddress(experiment: string, run: string, step?: number): string {
  const base = `${experimentAddress(experiment)}/runs/${encodeURIComponent(run)}`;
  return step === undefined ? base : `${base}/${step}`;
}

export function taskAddress(task: string): string {
  return `/tasks/${encodeURIComponent(task)}`;
}

export interface RunAddress {
  experiment: string;
  run: string;
}

export function sideBySideAddress(a: RunAddress, b: RunAddress): string {
  const query = new URLSearchParams({ a: `${a.experiment}/${a.run}`, b: `${b.experiment}/${b.run}` });
  return `/side-by-side?${query}`;
}

/** Compares two experiments, or two agents of one. */
export function compareAddress(a: string, b: string, experiment?: string): string {
  return `/compare?${new URLSearchParams({ a, b, ...(experiment === undefined ? {} : { experiment }) })}`;
}
