/** A service on which jobs depend does not answer, or answers again. */
export interface Outage {
  /** For people: `Slurm`, `Redis at HOST:PORT`. */
  service: string;
  isOver: boolean;
  /** Empty if unknown. */
  why: string;
}

export function outageText({ service, isOver, why }: Outage): string {
  if (isOver) return `${service} answers again.`;
  const cause = why === '' ? '' : ` (${why})`;
  return `${service} does not answer${cause}. Running jobs continue; it is tried again until it answers.`;
}
