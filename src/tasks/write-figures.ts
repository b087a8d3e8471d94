import { readFileSync, writeFileSync } from 'node:fs';
import { type Document, isMap, isNode, isScalar, parseDocument, stringify } from 'yaml';
import { inTask, type Task } from './task-folder.ts';

/** Figures as task.yaml has them. */
export type TaskFigures = Record<'mean' | 'spread' | 'seeds' | 'seconds', number>;

export interface MeasuredFigures {
  baseline?: TaskFigures & { machine: string };
  reference?: TaskFigures;
}

type Place = Pick<Task, 'folder' | 'variant'>;

/** Writes measured figures into task.yaml, and leaves the rest of it unchanged. */
export function writeFigures(task: Place, measured: MeasuredFigures, threshold: number | null = null): void {
  const path = inTask(task.folder, 'taskFile');
  let text = readFileSync(path, 'utf8');
  for (const [part, figures] of Object.entries(measured)) {
    const place = placeOf(parseDocument(text), task, part);
    for (const [name, value] of Object.entries<string | number>(figures))
      text = withValue(text, [...place, name], value);
  }
  if (threshold !== null) text = withValue(text, ['success', 'threshold'], threshold);
  writeFileSync(path, text);
}

/** The mean in task.yaml; null if it is not measured yet. */
export function declaredMean(
  task: Pick<Task, 'folder' | 'variant' | 'isSample'>,
  part: keyof MeasuredFigures,
): number | null {
  const document = parseDocument(readFileSync(inTask(task.folder, 'taskFile'), 'utf8'));
  const sample = ['sample', part, 'mean'];
  const place =
    task.isSample && document.hasIn(['sample']) ? sample : [...placeOf(document, task, part), 'mean'];
  const mean = document.getIn(place);
  return typeof mean === 'number' ? mean : null;
}

/** A variant has separate figures if it replaces that part of the task. */
function placeOf(document: Document, { variant }: Place, part: string): string[] {
  const own = ['variants', variant ?? '', part];
  return variant !== null && document.hasIn(own) ? own : [part];
}

/** Replaces a value where it is written, or adds the key as the last of its mapping. */
function withValue(text: string, field: readonly string[], value: string | number): string {
  const document = parseDocument(text);
  const parent = document.getIn(field.slice(0, -1), true);
  const isInBraces = isMap(parent) && parent.flow === true;
  // A comma ends a plain text there.
  const written =
    isInBraces && typeof value === 'string'
      ? JSON.stringify(value)
      : stringify(value, { lineWidth: 0 }).trim();
  const node = document.getIn(field, true);
  const isInLine = isScalar(node) && !/^BLOCK/.test(node.type ?? '');
  if (isInLine && node.range) {
    const [start, end] = node.range;
    return text.slice(0, start) + written + text.slice(end);
  }
  const line = node === undefined ? lineAfter(document, text, field.slice(0, -1)) : null;
  if (line !== null)
    return `${text.slice(0, line.at)}${line.indent}${field.at(-1)}: ${written}\n${text.slice(line.at)}`;
  document.setIn(field, value);
  return document.toString({ lineWidth: 0, flowCollectionPadding: !/\[[^\s\]]/.test(text) });
}

/** Where a line is added to a mapping that has a line for each key; null if it has not. */
function lineAfter(
  document: Document,
  text: string,
  field: readonly string[],
): { at: number; indent: string } | null {
  const mapping = document.getIn(field, true);
  if (!isMap(mapping) || mapping.flow === true) return null;
  const [first, last] = [mapping.items[0], mapping.items.at(-1)];
  if (!isNode(first?.key) || !first.key.range || !isNode(last?.value) || !last.value.range) return null;
  const [start] = first.key.range;
  // Block texts end with their line break; other values may be followed by a comment.
  const end = last.value.range[1];
  const lineEnd = text[end - 1] === '\n' ? end : text.indexOf('\n', end) + 1;
  if (lineEnd === 0) return null;
  return { at: lineEnd, indent: text.slice(text.lastIndexOf('\n', start) + 1, start) };
}
