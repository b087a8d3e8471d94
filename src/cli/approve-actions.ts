import { z } from 'zod';
import type { Gate, GateDecision, ProposedAction } from '../environment/index.ts';
import { parseShallowJson } from '../lib/shallow-json.ts';
import type { Action } from '../schema/index.ts';
import { plain } from './table.ts';
import type { AskAtTerminal } from './terminal-questions.ts';

const maxShown = 4_000;
const Arguments = z.record(z.string(), z.json());
const WrittenAction = z.object({ name: z.string(), args: Arguments });

/**
 * Asks a person about every action before it is performed. The progress view shows them the results.
 * @param actor that person's name in the trace
 */
export function approveActions(ask: AskAtTerminal, actor: string): Gate {
  return async (proposed, signal) => {
    const canTakeOver = proposed.isPermission !== true;
    const question = `\n${describe(proposed)}\n[a]llow, [e]dit, [d]eny${canTakeOver ? ', [t]ake over' : ''}? `;
    for (;;) {
      const choice = (await ask(question, signal)).trim().toLowerCase();
      if (choice === 'a' || choice === 'allow') return { kind: 'allow', actor };
      if (choice === 'd' || choice === 'deny') {
        const reason = await ask('Reason (the agent sees it): ', signal);
        return { kind: 'deny', actor, reason };
      }
      if (canTakeOver && (choice === 't' || choice === 'take over')) return takeOver(ask, actor, proposed);
      if (choice !== 'e' && choice !== 'edit') continue;
      const action = await askAction(ask, 'Instead', proposed, signal);
      if (action !== null) return { kind: 'replace', actor, action };
    }
  };
}

function takeOver(ask: AskAtTerminal, actor: string, proposed: ProposedAction): GateDecision {
  return { kind: 'take_over', actor, next: (_, signal) => askAction(ask, 'Your action', proposed, signal) };
}

/** Null for an empty line. */
async function askAction(
  ask: AskAtTerminal,
  prompt: string,
  { obstacleTo }: ProposedAction,
  signal: AbortSignal,
): Promise<Action | null> {
  let notice = '';
  for (;;) {
    const text = await ask(
      `${notice}${prompt}, such as: Read File {"file_name": "train.py"} (empty to go back): `,
      signal,
    );
    if (text.trim() === '') return null;
    const action = parseAction(text);
    const obstacle =
      action === null
        ? 'Expected the name of an action and its arguments as a JSON object.'
        : (obstacleTo?.(action) ?? null);
    if (obstacle === null) return action;
    notice = `${shownText(obstacle)}\n`;
  }
}

/** Parses the name of an action and its arguments as people write them; null if the text is neither. */
export function parseAction(text: string): z.infer<typeof WrittenAction> | null {
  const start = text.indexOf('{');
  const name = (start < 0 ? text : text.slice(0, start)).trim();
  try {
    const args = Arguments.safeParse(start < 0 ? {} : parseShallowJson(text.slice(start)));
    return args.success && name !== '' ? { name, args: args.data } : null;
  } catch {
    return null;
  }
}

function describe({ branch, step, name, args }: ProposedAction): string {
  const where = branch === 'main' ? '' : ` on branch ${branch}`;
  const texts = Object.entries(args).map(([argument, value]) => {
    return `  ${argument}: ${typeof value === 'string' ? value : JSON.stringify(value)}`;
  });
  return shownText([`Step ${step}${where}: the agent wants to ${name}`, ...texts].join('\n'));
}

/** A text of an agent or a script, as far as it is shown beside a question. */
export function shownText(text: string): string {
  const whole = plain(text);
  return whole.length <= maxShown ? whole : `${whole.slice(0, maxShown)}…`;
}
