import { createContext, use } from 'react';
import type { Report } from '../../../src/schema/index.ts';

/** Selects runs of a report: all given conditions must hold. */
export interface RunFilter {
  task?: string;
  agent?: string;
  outcome?: string;
  flag?: string;
  /** A kind of failure. */
  error?: string;
  /** A path in `ProcessMetrics`: selects runs that ended and have a value there. */
  measure?: string;
}

/** What every plot of a report shares. */
export interface ReportView {
  report: Report;
  /** The agent's index among all agents, which determines its colour and shape. */
  agentIndex: (agent: string) => number;
}

export const ReportContext = createContext<ReportView | null>(null);

export function useReport(): ReportView {
  const view = use(ReportContext);
  if (view === null) throw new Error('There is no report around this component.');
  return view;
}
