/** What `mlab doctor` says of one thing. */
export interface DoctorCheck {
  name: string;
  state: 'ok' | 'warning' | 'missing';
  detail: string;
  /** One command that fixes it; null when all is well. */
  fix: string | null;
}
