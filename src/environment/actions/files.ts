import { z } from 'zod';
import { defineAction, lineNumber } from '../action.ts';
import { cutMiddle, headCharacters, observationCharacters, tailCharacters } from '../output.ts';
import { done, edit, failed } from './outcomes.ts';

const maxLines = 100;
const largestScript = 16 * 2 ** 20;
const largestCopy = 256 * 2 ** 20;

export const fileName = z.string().min(1).describe('path relative to the workspace');

const listFiles = defineAction({
  name: 'List Files',
  description: 'Lists the names in a folder of the workspace; those of folders end in "/".',
  returns: 'The names, one per line.',
  args: {
    dir_path: z
      .string()
      .describe('path of the folder relative to the workspace; "." is the workspace itself'),
  },
  run: ({ files }, { dir_path }) => {
    const names = files.list(dir_path);
    return done(names.length === 0 ? `${dir_path} is empty.` : cutMiddle(names.join('\n')));
  },
});

const readFile = defineAction({
  name: 'Read File',
  description:
    'Shows the content of a file. A long file is cut in the middle; Inspect Script Lines shows any part.',
  returns: 'The text of the file.',
  args: { file_name: fileName },
  run: ({ files }, { file_name }) => {
    const { head, tail, size } = files.read(file_name, observationCharacters);
    const text = head.toString('utf8');
    if (tail.length === 0) return done(cutMiddle(text));
    const shown = { head: text.slice(0, headCharacters), tail: tail.toString('utf8').slice(-tailCharacters) };
    const cut = size - Buffer.byteLength(shown.head) - Buffer.byteLength(shown.tail);
    const notice = `[… about ${cut} of ${size} bytes cut; Inspect Script Lines shows any part of a script …]`;
    return done(`${shown.head}\n${notice}\n${shown.tail}`);
  },
});

const inspectLines = defineAction({
  name: 'Inspect Script Lines',
  description: `Shows lines of a script, at most ${maxLines} at once, with the length of the file.`,
  returns: 'The lines, each after its number and a colon, and the number of lines of the file.',
  args: {
    script_name: fileName,
    start_line_number: lineNumber.describe('first line, from 1'),
    end_line_number: lineNumber.describe('last line, included'),
  },
  run: ({ files }, { script_name, start_line_number: first, end_line_number: last }) => {
    const lines = files.readWhole(script_name, largestScript).toString('utf8').split('\n');
    if (lines.at(-1) === '') lines.pop();
    if (last < first) return failed(`end_line_number ${last} lies before start_line_number ${first}.`);
    if (last - first + 1 > maxLines) {
      return failed(`At most ${maxLines} lines at once: ${last - first + 1} were asked for.`);
    }
    const shown = lines.slice(first - 1, last).map((line, index) => `${first + index}: ${line}`);
    const length = `[${script_name} has ${lines.length} lines]`;
    return done(
      shown.length === 0
        ? `There is no line ${first}.\n${length}`
        : `${cutMiddle(shown.join('\n'))}\n${length}`,
    );
  },
});

const writeFile = defineAction({
  name: 'Write File',
  description: 'Writes a file, replacing an existing one. Undo Edit Script reverts it.',
  returns: 'The number of bytes written.',
  args: { file_name: fileName, content: z.string().describe('the whole new content') },
  run: (context, { file_name, content }) =>
    edit(context, file_name, () => {
      context.files.write(file_name, Buffer.from(content), 'replace');
      return `Wrote ${Buffer.byteLength(content)} bytes to ${file_name}.`;
    }),
});

const appendFile = defineAction({
  name: 'Append File',
  description: 'Appends to a file, which is created if it does not exist. Undo Edit Script reverts it.',
  returns: 'The number of bytes appended.',
  args: { file_name: fileName, content: z.string().describe('what to append') },
  run: (context, { file_name, content }) =>
    edit(context, file_name, () => {
      context.files.write(file_name, Buffer.from(content), 'append');
      return `Appended ${Buffer.byteLength(content)} bytes to ${file_name}.`;
    }),
});

const copyFile = defineAction({
  name: 'Copy File',
  description: 'Copies a file. Undo Edit Script reverts it.',
  returns: 'The number of bytes copied.',
  args: { source: fileName, destination: fileName.describe('path of the copy relative to the workspace') },
  run: (context, { source, destination }) =>
    edit(context, destination, () => {
      const content = context.files.readWhole(source, largestCopy);
      context.files.write(destination, content, 'replace');
      return `Copied ${source} to ${destination} (${content.length} bytes).`;
    }),
});

const undoEdit = defineAction({
  name: 'Undo Edit Script',
  description: 'Reverts the last edit of a file made by an action; repeat it to revert earlier ones.',
  returns: 'The text of the file as it is now.',
  args: { script_name: fileName },
  run: (context, { script_name }) => {
    const path = context.files.pathOf(script_name);
    const entry = context.undoStack.findLast((candidate) => candidate.path === path);
    if (entry === undefined) return failed(`There is no edit of ${script_name} left to undo.`);
    const content = context.recall(entry);
    if (content === null) {
      context.files.remove(path);
      return { ...done(`${script_name} was made by the edit, and is removed again.`), undone: [path] };
    }
    context.files.write(path, content, 'replace');
    const text = cutMiddle(content.toString('utf8'));
    return {
      ...done(`${script_name} is back to what it was before its last edit:\n${text}`),
      undone: [path],
    };
  },
});

export const fileActions = [listFiles, readFile, inspectLines, writeFile, appendFile, copyFile, undoEdit];
