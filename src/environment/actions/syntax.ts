import { z } from 'zod';
import type { ActionContext } from '../action-context.ts';

const maxCheckMs = 20_000;

const SyntaxCheck = z.object({
  error: z.object({ line: z.int().nullable(), message: z.string(), text: z.string() }).nullable(),
});

/** Why a text is not valid Python, for an observation; null if it is. It is compiled in the sandbox, never run. */
export async function syntaxProblem(context: ActionContext, source: string): Promise<string | null> {
  const { output, end } = await context.helper('check_syntax.py', [], {
    quiet: true,
    timeoutMs: maxCheckMs,
    input: Buffer.from(source),
  });
  const verdict = end.exitCode === 0 ? parseCheck(output) : null;
  if (verdict === null) return 'it is too large or too deeply nested for the Python parser, or time was up';
  if (verdict.error === null) return null;
  const { line, message, text } = verdict.error;
  const shown = text === '' ? '' : `: ${text}`;
  return line === null ? message : `${message} in line ${line}${shown}`;
}

function parseCheck(output: string): z.infer<typeof SyntaxCheck> | null {
  try {
    return SyntaxCheck.parse(JSON.parse(output.trim().split('\n').at(-1) ?? ''));
  } catch {
    return null;
  }
}
