/** One finding of `mlab doctor`. */
export interface DoctorCheck {
  name: string;
  state: 'ok' | 'warning' | 'missing';
  detail: string;
  /** One command that fixes it; null if nothing is wrong. */
  fix: string | null;
}
