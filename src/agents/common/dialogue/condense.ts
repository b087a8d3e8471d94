import type { Environment } from '../../../environment/index.ts';
import { cutMiddle } from './cut-middle.ts';
import type { PastStep } from './history.ts';
import { findingsPrompt, mergePrompt } from './prompts.ts';

export interface CondenseSettings {
  /** Observations with more characters are summarised; 0: none. */
  over: number;
  /** The number of characters that are summarised at once. */
  block: number;
  /** Actions whose observations are never summarised, because their exact text is needed. */
  except: readonly string[];
}

/**
 * An observation short enough for the history: the fast model summarises a long one block by block. If the model
 * returns nothing, the middle of the observation is left out instead.
 */
export async function condense(
  environment: Environment,
  reply: string,
  { action, observation }: Pick<PastStep, 'action' | 'observation'>,
  { over, block, except }: CondenseSettings,
): Promise<string> {
  if (over === 0 || observation.length <= over || except.includes(action)) return observation;
  const findings: string[] = [];
  for (let start = 0; start < observation.length; start += block) {
    const part = observation.slice(start, start + block);
    const finding = await askFast(environment, findingsPrompt(reply, part));
    if (finding === null) return cutMiddle(observation, over);
    findings.push(finding);
  }
  const [only = ''] = findings;
  const whole = findings.length === 1 ? only : await askFast(environment, mergePrompt(reply, findings));
  return cutMiddle(whole ?? findings.join('\n'), over);
}

async function askFast(environment: Environment, text: string): Promise<string | null> {
  const messages = [{ role: 'user' as const, text: text.toWellFormed() }];
  const answer = await environment.ask({ role: 'fast', purpose: 'summarise an observation', messages });
  return answer.kind === 'answered' && answer.text.trim() !== '' ? answer.text.trim() : null;
}
