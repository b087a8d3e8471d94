import { createContext, use } from 'react';
import type { Report } from '../../../src/schema/index.ts';

/** Which runs of a report: everything that is given must hold. */
export interface RunFilter {
  task?: string;
  agent?: string;
  outcome?: string;
  flag?: string;
  /** A kind of failure. */
  error?: string;
  /** A path in `ProcessMetrics`: runs that ended and have a value there. */
  measure?: string;
}

/** What every plot of a report shares. */
export interface ReportView {
  report: Report;
  /** The agent's place among all agents: its colour and its mark. */
  agentIndex: (agent: string) => number;
}

export const ReportContext = createContext<ReportView | null>(null);

export function useReport(): ReportView {
  const view = use(ReportContext);
  if (view === null) throw new Error('There is no report around this component.');
  return view;
}
