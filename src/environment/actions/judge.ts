import { z } from 'zod';
import { SubmissionProblem } from '../../schema/index.ts';
import { defineAction } from '../action.ts';
import { cutMiddle } from '../output.ts';
import { PathFailed } from '../workspace-path.ts';
import { commandText, statusOf } from './execute.ts';

const SubmissionCheck = z.object({ valid: z.boolean(), problems: z.array(SubmissionProblem) });

const validateSubmission = defineAction({
  name: 'Validate Submission',
  description:
    'Tells whether the grader would accept the submission in the workspace. It never gives a score.',
  returns: 'Whether the grader would accept the submission. `failed` lists the problems.',
  args: {},
  run: async (context) => {
    const args = [
      '--task',
      context.briefInside,
      '--submission',
      context.inside.workspace,
      '--public',
      context.inside.data,
    ];
    const { output, end } = await context.helper('check_submission.py', args, {
      quiet: true,
      timeoutMs: 60_000,
    });
    const verdict = parseCheck(output);
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

function parseCheck(output: string): z.infer<typeof SubmissionCheck> | null {
  try {
    return SubmissionCheck.parse(JSON.parse(output.trim().split('\n').at(-1) ?? ''));
  } catch {
    return null;
  }
}

const checkBudget = defineAction({
  name: 'Check Budget',
  description: 'Shows the remaining budget: steps, seconds, tokens, money.',
  returns: 'One line each for steps, seconds, tokens and money.',
  args: {},
  run: (context) => {
    const { steps_left, seconds_left, tokens_left, money_left } = context.budget();
    const lines = [
      `steps left: ${steps_left}`,
      `seconds left: ${Math.floor(seconds_left)}`,
      `tokens left: ${tokens_left ?? 'not limited'}`,
      `money left: ${money_left === null ? 'not limited' : `$${money_left.toFixed(2)}`}`,
    ];
    return { status: 'ok', observation: lines.join('\n') };
  },
});

const finalAnswer = defineAction({
  name: 'Final Answer',
  description: 'Ends the run. The submission in the workspace is then graded.',
  returns: 'A confirmation; `ended` is true from then on.',
  args: { final_answer: z.string().describe('what was done and what resulted') },
  run: (_, { final_answer }) => ({
    status: 'ok',
    observation: 'The run is over.',
    finalAnswer: final_answer,
  }),
});

const maxSearchMs = 30_000;

const searchFiles = defineAction({
  name: 'Search Files',
  description: 'Finds the lines of text files in the workspace that match a regular expression.',
  returns: 'The lines found, each with its file and number.',
  args: {
    pattern: commandText.describe('a Python regular expression'),
    dir_path: z
      .string()
      .default('.')
      .describe('folder or file to search in, relative to the workspace; default "."'),
  },
  run: async (context, { pattern, dir_path }) => {
    if (context.files.kindOf(dir_path) === null)
      throw new PathFailed(`${dir_path} does not exist. List Files shows what is there.`);
    const path = context.files.pathOf(dir_path);
    const { output, end } = await context.helper('search_files.py', [pattern, path === '' ? '.' : path], {
      timeoutMs: maxSearchMs,
    });
    const status = statusOf(end);
    const seconds = (end.durationMs / 1000).toFixed(1);
    const notice =
      end.ending === 'exited'
        ? ''
        : `\n[the search was stopped after ${seconds} s: use a simpler pattern or a smaller folder]`;
    return { status, observation: `${output.trimEnd()}${notice}`.trim(), exitCode: end.exitCode };
  },
});

export const judgeActions = [searchFiles, validateSubmission, checkBudget, finalAnswer];
