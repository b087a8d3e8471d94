import { z } from 'zod';
import { defineAction } from '../action.ts';
import { fileName } from './files.ts';
import { linesAt, nearMatch } from './near-match.ts';
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
    const places = linesAt(file.text, old);
    const [place] = places;
    if (place === undefined) {
      return failed(
        `${file_name} does not hold old_text; nothing was changed. ${nearMatch(file.text, old)}`.trim(),
      );
    }
    if (places.length > 1 && !replace_all) {
      const more = places.length > maxPlaces ? ', …' : '';
      return failed(
        `${file_name} holds old_text ${places.length} times, in lines ${places.slice(0, maxPlaces).join(', ')}${more}; ` +
          'nothing was changed. Include more of the surrounding text, or set replace_all to true.',
      );
    }
    const text = file.text.split(old).join(fresh);
    const wrong = isPython(file_name) ? await syntaxProblem(context, text) : null;
    const warning =
      wrong === null
        ? ''
        : `\nWarning: ${file_name} is not valid Python now: ${wrong}. Undo Edit Script reverts the edit.`;
    return edit(context, file_name, () => {
      context.files.write(file_name, contentWith(file, text), 'replace');
      const what = places.length === 1 ? `the text in line ${place}` : `${places.length} occurrences`;
      return `Replaced ${what} of ${file_name}.${warning}`;
    });
  },
});

export const fileEditActions = [editFile];
