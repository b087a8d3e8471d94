import { z } from 'zod';
import { Problem } from '../../schema/index.ts';
import { defineAction } from '../action.ts';
import { cutMiddle } from '../output.ts';

const Verdict = z.object({ valid: z.boolean(), problems: z.array(Problem) });

const validateSubmission = defineAction({
  name: 'Validate Submission',
  description:
    'Says whether the grader would accept the submission as it lies in the workspace. It never gives a score.',
  args: {},
  run: async (bench) => {
    const args = [
      '--task',
      bench.briefInside,
      '--submission',
      bench.inside.workspace,
      '--public',
      bench.inside.data,
    ];
    const { output, end } = await bench.helper('check_submission.py', args, {
      quiet: true,
      timeoutMs: 60_000,
    });
    const verdict = parseVerdict(output);
    if (verdict === null) {
      return {
        status: 'error',
        observation: `The check itself failed (exit code ${end.exitCode}):\n${cutMiddle(output)}`,
      };
    }
    if (verdict.valid) return { status: 'ok', observation: 'The grader would accept this submission.' };
    const problems = verdict.problems.map(({ code, message }) => `- ${message} (${code})`);
    return {
      status: 'failed',
      observation: `The grader would not accept this submission:\n${problems.join('\n')}`,
    };
  },
});

function parseVerdict(output: string): z.infer<typeof Verdict> | null {
  try {
    return Verdict.parse(JSON.parse(output.trim().split('\n').at(-1) ?? ''));
  } catch {
    return null;
  }
}

const checkBudget = defineAction({
  name: 'Check Budget',
  description: 'Says what is left: steps, seconds, tokens, money.',
  args: {},
  run: (bench) => {
    const { steps_left, seconds_left, tokens_left, money_left } = bench.budget();
    const lines = [
      // This very step is not yet taken off.
      `steps left: ${steps_left - 1}`,
      `seconds left: ${Math.floor(seconds_left)}`,
      `tokens left: ${tokens_left ?? 'not limited'}`,
      `money left: ${money_left === null ? 'not limited' : `$${money_left.toFixed(2)}`}`,
    ];
    return { status: 'ok', observation: lines.join('\n') };
  },
});

const finalAnswer = defineAction({
  name: 'Final Answer',
  description: 'Ends the run. The submission is graded as it lies in the workspace then.',
  args: { final_answer: z.string().describe('what was done and what came of it') },
  run: (_, { final_answer }) => ({
    status: 'ok',
    observation: 'The run is over.',
    finalAnswer: final_answer,
  }),
});

const searchFiles = defineAction({
  name: 'Search Files',
  description: 'Finds the lines of text files in the workspace that match a regular expression.',
  args: {
    pattern: z.string().min(1).describe('a Python regular expression'),
    dir_path: z.string().default('.').describe('folder to search in, relative to the workspace; default "."'),
  },
  run: async (bench, { pattern, dir_path }) => {
    const folder = bench.files.pathOf(dir_path);
    const { output, end } = await bench.helper('search_files.py', [pattern, folder === '' ? '.' : folder], {
      timeoutMs: 30_000,
    });
    if (end.ending === 'timed_out') {
      return {
        status: 'timed_out',
        observation: 'The search took longer than 30 s. Use a simpler pattern or a smaller folder.',
      };
    }
    return {
      status: end.exitCode === 0 ? 'ok' : 'failed',
      observation: output.trimEnd(),
      exitCode: end.exitCode,
    };
  },
});

export const judgeActions = [searchFiles, validateSubmission, checkBudget, finalAnswer];
