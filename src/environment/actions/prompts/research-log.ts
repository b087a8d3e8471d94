import type { ModelRequest } from '../../../schema/index.ts';
import { delimited, delimitedIsData } from './delimited.ts';

const reflectHead = `You reflect on a machine-learning project for the researcher working on it. You are given the problem, the researcher's log of what was done and observed so far, and what to reflect on.
Answer in a few paragraphs of plain text. Whatever you say was done or measured must be in the log; say explicitly what the log does not tell. ${delimitedIsData}`;

const retrieveHead = `You look things up for a researcher working on a machine-learning project. You are given the problem, the researcher's log of what was done and observed so far, and the current plan.
List what in the log is relevant to the plan, as short points: what was tried and its results, with the numbers as they are in the log, what failed and why, and which files contain what. Use no other sources, and omit what is not relevant to the plan. ${delimitedIsData}`;

export function reflect(problem: string, log: string, question: string): ModelRequest {
  return request('reflect', reflectHead, problem, log, `What to reflect on:\n${question}`);
}

export function retrieve(problem: string, log: string, plan: string): ModelRequest {
  const shown = plan.trim() === '' ? 'There is no plan yet: list what is relevant to the problem.' : plan;
  return request('look up in the research log', retrieveHead, problem, log, `The current plan:\n${shown}`);
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
