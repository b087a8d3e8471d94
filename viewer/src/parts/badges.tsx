import { showWords } from '../format/numbers.ts';

const outcomeSigns: Record<string, string> = {
  success: '✓',
  small_improvement: '↗',
  no_improvement: '→',
  invalid: '✗',
  infrastructure: '⚡',
  unfinished: '…',
};

/** The outcome of a run: a sign, a word and a colour. */
export function OutcomeBadge({ outcome, ended }: { outcome: string; ended: boolean }) {
  if (outcome === 'not_known') return <span className="quiet">not read yet</span>;
  return (
    <span className={`badge outcome-text-${outcome}`}>
      <span aria-hidden="true">{outcomeSigns[outcome] ?? '·'}</span>{' '}
      {outcome === 'unfinished' && ended ? 'not graded' : showWords(outcome)}
    </span>
  );
}

const statusSigns: Record<string, string> = {
  running: '▶',
  finished: '■',
  interrupted: '‖',
  waiting: '?',
  failed: '✗',
  pending: '○',
  queued: '○',
  cancelled: '⊘',
  starting: '◔',
  unfinished: '‖',
  unreadable: '✗',
  reading: '…',
};

/** The state of a run or an experiment, and why it ended. */
export function StatusBadge({ status, end = null }: { status: string; end?: string | null }) {
  return (
    <span className={`badge status-${status}`} title={end === null ? undefined : showWords(end)}>
      <span aria-hidden="true">{statusSigns[status] ?? '·'}</span> {status}
      {end === null || end === 'final_answer' ? null : <span className="quiet"> {showWords(end)}</span>}
    </span>
  );
}

const stepSigns: Record<string, string> = {
  ok: '✓',
  running: '▶',
  cut_off: '‖',
  timed_out: '⧖',
  out_of_memory: '▣',
  refused: '⊘',
  invalid: '?',
};

export function StepStatusBadge({ status }: { status: string }) {
  return (
    <span className={`badge step-${status === 'ok' || status === 'running' ? status : 'bad'}`}>
      <span aria-hidden="true">{stepSigns[status] ?? '✗'}</span> {showWords(status)}
    </span>
  );
}
