import { z } from 'zod';
import { defineAction } from '../action.ts';
import { fileName } from './files.ts';
import { nearMatch, placesOf } from './near-match.ts';
import { edit, failed } from './outcomes.ts';
import { syntaxProblem } from './syntax.ts';
import { contentWith, isPython, readTextFile } from './text-file.ts';

const largestEdited = 16 * 2 ** 20;
const maxPlaces = 20;

/** Models often write truth values as strings. */
const flag = z.union([
  z.boolean(),
  z
    .string()
    .regex(/^\s*(true|false)\s*$/i, 'true or false')
    .transform((text) => text.trim().toLowerCase() === 'true'),
]);

const editFile = defineAction({
  name: 'Edit File',
  description:
    'Replaces a text in a file. The old text must match exactly and occur once, unless replace_all is true. Undo Edit Script reverts it.',
  returns:
    'What was replaced, and a warning if a Python file no longer parses. If old_text is missing or found more than once, the action fails and nothing is changed.',
  args: {
    file_name: fileName,
    old_text: z.string().min(1).describe('the text to replace, exactly as it is in the file'),
    new_text: z.string().describe('the text to replace it with'),
    replace_all: flag.default(false).describe('whether to replace every occurrence; default false'),
  },
  run: async (context, args) => {
    const { file_name, replace_all } = args;
    context.files.checkWritable(file_name);
    const file = readTextFile(context.files, file_name, largestEdited);
    // In a file with CRLF line breaks, both spellings of a line break match.
    const asIn = (text: string) => (file.lineBreak === '\r\n' ? text.replaceAll('\r\n', '\n') : text);
    const old = asIn(args.old_text);
    const fresh = asIn(args.new_text);
    if (old === fresh) return failed('old_text and new_text are the same: there is nothing to change.');
    const { count, lines } = placesOf(file.text, old, maxPlaces);
    if (count === 0) {
      return failed(
        `${file_name} does not hold old_text; nothing was changed. ${nearMatch(file.text, old)}`.trim(),
      );
    }
    if (count > 1 && !replace_all) {
      const more = count > maxPlaces ? ', …' : '';
      return failed(
        `${file_name} holds old_text ${count} times, in lines ${lines.join(', ')}${more}; ` +
          'nothing was changed. Include more of the surrounding text, or set replace_all to true.',
      );
    }
    // Known before the text is made: many short places and a long replacement would take gigabytes.
    const bytesOf = (text: string) =>
      Buffer.byteLength(text) + (file.lineBreak === '\n' ? 0 : placesOf(text, '\n', 0).count);
    const bytes = bytesOf(file.text) + count * (bytesOf(fresh) - bytesOf(old));
    if (bytes > largestEdited) {
      return failed(
        `${file_name} would become too large for this action (${bytes} bytes); nothing was changed.`,
      );
    }
    const text = count === 1 ? file.text.replace(old, () => fresh) : file.text.split(old).join(fresh);
    const wrong = isPython(file_name) ? await syntaxProblem(context, text) : null;
    const warning =
      wrong === null
        ? ''
        : `\nWarning: ${file_name} is not valid Python now: ${wrong}. Undo Edit Script reverts the edit.`;
    return edit(context, file_name, () => {
      context.files.write(file_name, contentWith(file, text), 'replace');
      const what = count === 1 ? `the text in line ${lines[0]}` : `${count} occurrences`;
      return `Replaced ${what} of ${file_name}.${warning}`;
    });
  },
});

export const fileEditActions = [editFile];
