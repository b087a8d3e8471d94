import { posix } from 'node:path';
import type { ObjectId } from '../../schema/index.ts';

/** The part of a step that is needed to run it again. */
export interface WorkStep {
  step: number;
  action: string;
  args: Readonly<Record<string, unknown>>;
  /** Paths whose content changed, at most 100 of them, and how many did. */
  changed: readonly string[];
  changedCount: number;
  /** Whether it wrote the submission, even with the same content. */
  wroteSubmission: boolean;
  /** The workspace before and afterwards. */
  before: ObjectId;
  snapshot: ObjectId;
}

/** A command to run again. */
export interface Rerun {
  /** Its step in the trace; null for the task's entry script. */
  step: number | null;
  /** The command as shown to people. */
  command: string;
  argv: [string, ...string[]];
  /** Its standard input. */
  input?: string;
}

/**
 * Runs pieces of code one after another with the same variables, like an interpreter; a failure ends only its piece.
 */
const interpreter = [
  'import json, sys, traceback',
  "variables = {'__name__': '__main__'}",
  'for code in json.load(sys.stdin):',
  '    try:',
  "        exec(compile(code, '<interpreter>', 'exec'), variables)",
  '    except Exception:',
  '        traceback.print_exc()',
].join('\n');

/** The command of a step; none for a step that ran nothing. An interpreter needs its earlier input. */
export function rerunOf(step: WorkStep, steps: readonly WorkStep[]): Rerun[] {
  const text = (name: string) => String(step.args[name] ?? '');
  switch (step.action) {
    case 'Execute Script': {
      const path = posix.normalize(text('script_name'));
      // Python takes a name that begins with a hyphen for an option.
      const script = path.startsWith('-') ? `./${path}` : path;
      return [{ step: step.step, command: `python ${script}`, argv: ['python', script] }];
    }
    case 'Run Command':
      return [{ step: step.step, command: text('command'), argv: ['/bin/sh', '-c', text('command')] }];
    case 'Copy File': {
      const [from, to] = [text('source'), text('destination')];
      return [{ step: step.step, command: `cp ${from} ${to}`, argv: ['cp', '--', from, to] }];
    }
    case 'Python REPL': {
      const earlier = steps.filter(
        ({ action, step: number }) => action === step.action && number <= step.step,
      );
      const input = JSON.stringify(earlier.map(({ args }) => String(args.command)));
      const argv: Rerun['argv'] = ['python', '-c', interpreter];
      return [{ step: step.step, command: 'the code given to Python REPL', argv, input }];
    }
    default:
      return [];
  }
}
