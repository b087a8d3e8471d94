import type { ModelRequest } from '../../../schema/index.ts';
import { delimited, delimitedIsData } from './delimited.ts';

const reflectHead = `You reflect on a machine-learning project for the researcher who works on it. You are given the problem, the researcher's log of what was done and seen so far, and what to reflect on.
Answer in a few paragraphs of plain text. What you say was done or measured must stand in the log; say openly what the log does not tell. ${delimitedIsData}`;

const retrieveHead = `You look things up for a researcher who works on a machine-learning project. You are given the problem, the researcher's log of what was done and seen so far, and the present plan.
List what in the log matters for the plan, as short points: what was tried and what came of it, with its numbers as they stand there, what failed and why, which files hold what. Take nothing from elsewhere, and leave out what has no bearing on the plan. ${delimitedIsData}`;

export function reflect(problem: string, log: string, question: string): ModelRequest {
  return request('reflect', reflectHead, problem, log, `What to reflect on:\n${question}`);
}

export function retrieve(problem: string, log: string, plan: string): ModelRequest {
  const shown = plan.trim() === '' ? 'There is no plan as yet: list what matters for the problem.' : plan;
  return request('look up in the research log', retrieveHead, problem, log, `The present plan:\n${shown}`);
}

/**
 * The log comes before the parts that change at each call, because it only grows at its end: the prefix can be cached.
 */
function request(purpose: string, head: string, problem: string, log: string, closing: string): ModelRequest {
  const user = `${delimited('problem', problem)}\n\n${delimited('research log', log)}\n\n${closing}`;
  return {
    role: 'fast',
    purpose,
    messages: [
      { role: 'system', text: head, stable: true },
      { role: 'user', text: user },
    ],
  };
}
