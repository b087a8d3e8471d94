/** What `mlab doctor` says of one thing. */
export interface Finding {
  name: string;
  state: 'ok' | 'warning' | 'missing';
  detail: string;
  /** One command that mends it; null when all is well. */
  mend: string | null;
}
