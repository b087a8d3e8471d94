import { highlightCode, tagHighlighter, tags } from '@lezer/highlight';
import { parser as jsonParser } from '@lezer/json';
import { parser as pythonParser } from '@lezer/python';
import type { Language } from './language.ts';

const parsers = { python: pythonParser, json: jsonParser };

export interface CodeToken {
  text: string;
  /** A class name of the style sheet, or an empty string. */
  kind: string;
}

const highlighter = tagHighlighter([
  { tag: [tags.keyword, tags.operatorKeyword, tags.bool, tags.null, tags.self], class: 'code-keyword' },
  { tag: [tags.string, tags.docString], class: 'code-string' },
  { tag: tags.number, class: 'code-number' },
  { tag: tags.comment, class: 'code-comment' },
  {
    tag: [tags.definition(tags.variableName), tags.definition(tags.className), tags.propertyName],
    class: 'code-name',
  },
  { tag: tags.function(tags.variableName), class: 'code-name' },
]);

/** Longer texts are shown without colours: parsing them would block the page. */
const longest = 200_000;

/** Lines of tokens. The tokens of a line add up to the line, letter by letter. */
export function codeLines(text: string, language: Language | null): CodeToken[][] {
  if (language === null || text.length > longest) {
    return text.split('\n').map((line) => (line === '' ? [] : [{ text: line, kind: '' }]));
  }
  let line: CodeToken[] = [];
  const lines = [line];
  highlightCode(
    text,
    parsers[language].parse(text),
    highlighter,
    (piece, kind) => line.push({ text: piece, kind }),
    () => {
      line = [];
      lines.push(line);
    },
  );
  return lines;
}
