import type { ModelRequest } from '../../../schema/index.ts';
import { type Block, numbered } from '../blocks.ts';
import { delimited, delimitedIsData } from './delimited.ts';

const readHead = `You read a part of a file for a researcher who can't see it and has a question about it. Each line is preceded by its number.
Report what this part says about the question: only what its lines confirm, with their line numbers, and with names, numbers and short code quoted verbatim. Don't guess about what is not there, or about other parts of the file. If this part says nothing about the question, just say so. ${delimitedIsData}`;

const mergeHead = `Several readers have each read a part of a file for a researcher who can't see it and has a question about it. You are given their reports in the order of the file.
Merge them into one report that answers the question. Keep the line numbers and quotations. Add nothing that is in none of the reports, and point out contradictions and what was not found. ${delimitedIsData}`;

export function readBlock(
  name: string,
  block: Block,
  place: { number: number; of: number },
  question: string,
): ModelRequest {
  const which = place.of === 1 ? 'The whole file' : `Part ${place.number} of ${place.of}`;
  const text = `${which}, lines ${block.first} to ${block.last}:\n${delimited(name, numbered(block))}`;
  const count = place.of === 1 ? '' : `, part ${place.number} of ${place.of}`;
  return request(`understand a file${count}`, readHead, text, question);
}

export function mergeFindings(name: string, findings: readonly string[], question: string): ModelRequest {
  const text = `The reports:\n${delimited(name, findings.join('\n\n'))}`;
  return request('merge what was understood', mergeHead, text, question);
}

function request(purpose: string, head: string, text: string, question: string): ModelRequest {
  return {
    role: 'fast',
    purpose,
    messages: [
      { role: 'system', text: head, stable: true },
      { role: 'user', text: `${text}\n\nThe question, or what to look for:\n${question}` },
    ],
  };
}
