import type { ProcessMetrics } from '../../schema/index.ts';
import type { RunTranscript, TranscriptStep } from './run-transcript.ts';
import { ran, succeeded } from './steps.ts';

/** Consecutive failed executions, ignoring steps in between that execute nothing. */
export interface FailedChain {
  steps: readonly TranscriptStep[];
  /** Whether a successful execution came after it. */
  recovered: boolean;
}

export function debugging(transcript: RunTranscript): ProcessMetrics['debugging'] {
  const executions = transcript.steps.filter(ran);
  const chains = failedChains(transcript);
  const lengths = chains.map(({ steps }) => steps.length);
  const failed = lengths.reduce((sum, length) => sum + length, 0);
  return {
    executions: executions.length,
    failed,
    chains: chains.length,
    longest_chain: Math.max(0, ...lengths),
    mean_chain: chains.length === 0 ? null : failed / chains.length,
    same_error_again: chains.reduce((sum, { steps }) => sum + repeatedErrors(steps).length, 0),
    recovery_rate:
      chains.length === 0 ? null : chains.filter(({ recovered }) => recovered).length / chains.length,
  };
}

export function failedChains({ steps }: RunTranscript): FailedChain[] {
  const chains: FailedChain[] = [];
  let current: TranscriptStep[] = [];
  for (const step of steps.filter(ran)) {
    if (!succeeded(step)) current.push(step);
    else if (current.length > 0) {
      chains.push({ steps: current, recovered: true });
      current = [];
    }
  }
  return current.length > 0 ? [...chains, { steps: current, recovered: false }] : chains;
}

/** The steps of a chain that failed like the one before. */
function repeatedErrors(chain: readonly TranscriptStep[]): TranscriptStep[] {
  const errors = chain.map(errorOf);
  return chain.filter((_, index) => index > 0 && errors[index] === errors[index - 1]);
}

const errorLine = /^(?:[\w.]*(?:Error|Exception|Interrupt|Exit|Warning)|[\w./-]+: (?:line \d+: )?\S.*)\b.*$/;

/**
 * Identifies a failure: the last line of the output that names an error, without the parts that vary between attempts
 * (numbers, addresses, folders); if there is none, the last line and how it ended.
 */
export function errorOf({ observation, status }: TranscriptStep): string {
  const lines = observation.split(/\r\n|\n|\r/).map((line) => line.slice(0, 1000).trim());
  const printed = lines.filter(
    (line) => line !== '' && !/^\[.*(?:exit code|ended by|was stopped)/.test(line),
  );
  const line = printed.findLast((candidate) => errorLine.test(candidate)) ?? printed.at(-1) ?? '';
  const plain = line
    .replace(/0x[\da-f]+/gi, '#')
    .replace(/\d+(?:\.\d+)?/g, '#')
    .replace(/[^\s'"]*[\\/]/g, '');
  return `${status}: ${plain.slice(0, 300)}`;
}
