import { isUtf8 } from 'node:buffer';
import type { WorkspaceFiles } from '../workspace-files.ts';
import { PathFailed } from '../workspace-path.ts';

const byteOrderMark = '\ufeff';

/** The text to edit, with the encoding details of its file. */
export interface TextFile {
  /** Without byte order mark; line breaks are `\n` if the file uses one kind only. */
  text: string;
  hasByteOrderMark: boolean;
  /** What `\n` becomes in the file. */
  lineBreak: '\n' | '\r\n';
}

export const emptyFile: TextFile = { text: '', hasByteOrderMark: false, lineBreak: '\n' };

/** @throws PathFailed if it is too large or not UTF-8 text; PathRefused */
export function readTextFile(files: WorkspaceFiles, path: string, maxBytes: number): TextFile {
  const content = files.readWhole(path, maxBytes);
  if (!isText(content)) throw notText(path);
  return textFileOf(content.toString('utf8'));
}

export function isText(content: Buffer): boolean {
  return isUtf8(content) && !content.includes(0);
}

export function notText(path: string): PathFailed {
  return new PathFailed(`${path} is no text in UTF-8.`);
}

export function textFileOf(content: string): TextFile {
  const hasByteOrderMark = content.startsWith(byteOrderMark);
  const text = hasByteOrderMark ? content.slice(1) : content;
  const bare = text.replaceAll('\r\n', '');
  if (bare.length === text.length || /[\r\n]/.test(bare)) return { text, hasByteOrderMark, lineBreak: '\n' };
  return { text: text.replaceAll('\r\n', '\n'), hasByteOrderMark, lineBreak: '\r\n' };
}

/** The content of the file for this text. */
export function contentWith(file: TextFile, text: string): Buffer {
  const broken = file.lineBreak === '\n' ? text : text.replaceAll('\n', file.lineBreak);
  return Buffer.from(file.hasByteOrderMark ? byteOrderMark + broken : broken);
}

/** Lines without their breaks; a final break starts no further line. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

export function isPython(path: string): boolean {
  return /\.pyw?$/i.test(path);
}
