import type { ModelRequest } from '../../../schema/index.ts';
import { fenceFor } from '../reply-code.ts';
import type { Segment } from '../segment.ts';
import { isPython } from '../text-file.ts';
import { delimited, delimitedIsData } from './delimited.ts';

const contextLines = 40;

const rules =
  'Make the requested change and no other. Keep the names, the comments and the indentation of everything else. ' +
  'Your reply replaces the text as it is, so do not omit or shorten any part of it or replace one by a remark.';

const wholeHead = `You edit one file of a machine-learning project. You are given the file, then the change to make.
${rules}
Reply with the complete file after the change, in a single code block. ${delimitedIsData}`;

const segmentHead = `You edit some lines of one file of a machine-learning project. You are given these lines, then the lines around them, then the change to make.
${rules}
Reply with the new version of these lines, in a single code block, every line with its full indentation, including the first. Don't repeat the lines around them. ${delimitedIsData}`;

/** Asks for the whole file after an edit. */
export function wholeEdit(name: string, text: string, instruction: string): ModelRequest {
  const shown =
    text === ''
      ? `The file ${JSON.stringify(name)} is still empty: write it.`
      : `The file:\n${delimited(name, text)}`;
  return request('edit a script', wholeHead, `${shown}\n\n${closing(name, text, instruction)}`);
}

/** Asks for some lines after an edit. */
export function segmentEdit(name: string, segment: Segment, instruction: string): ModelRequest {
  const first = segment.before.length + 1;
  const last = segment.before.length + segment.lines.length;
  const text = segment.lines.join('\n');
  const above = segment.before.slice(-contextLines).join('\n');
  const below = segment.after.slice(0, contextLines).join('\n');
  const shown = [
    `Lines ${first} to ${last}, which you edit:\n${delimited(name, text)}`,
    above === '' ? 'Nothing is above them.' : `Above them:\n${delimited('above', above)}`,
    below === '' ? 'Nothing is below them.' : `Below them:\n${delimited('below', below)}`,
  ].join('\n\n');
  return request('edit lines of a script', segmentHead, `${shown}\n\n${closing(name, text, instruction)}`);
}

function closing(name: string, text: string, instruction: string): string {
  const fence = fenceFor(text);
  const label = isPython(name) ? 'python' : '';
  return `The change to make:\n${instruction}\n\nOpen your code block with ${fence}${label} and close it with ${fence}.`;
}

function request(purpose: string, head: string, text: string): ModelRequest {
  return {
    role: 'editor',
    purpose,
    messages: [
      { role: 'system', text: head, stable: true },
      { role: 'user', text },
    ],
  };
}
