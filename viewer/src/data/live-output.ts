/** A part of a step's output: `from` is the length of the output before it. */
export interface OutputPart {
  from: number;
  text: string;
}

/** What the current step has printed since this page was opened. */
export interface LiveOutput extends OutputPart {
  step: number;
}

/** More is dropped: the full output is on the page when the step has ended. */
const most = 400_000;

/** Pieces say where they begin: one that comes twice, after a broken connection, is shown once. */
export function withOutput(before: LiveOutput | null, piece: LiveOutput): LiveOutput {
  if (before?.step !== piece.step) return piece;
  const joined = joinedOutput(before, piece);
  const cut = Math.max(0, joined.text.length - most);
  return { step: piece.step, from: joined.from + cut, text: joined.text.slice(cut) };
}

/** Joins two parts. If something is missing between them, a line says so. */
export function joinedOutput(first: OutputPart, second: OutputPart): OutputPart {
  if (second.from < first.from) return second;
  const missing = second.from - (first.from + first.text.length);
  if (missing <= 0)
    return { from: first.from, text: first.text.slice(0, second.from - first.from) + second.text };
  const text = `${first.text}\n… ${missing} characters were missed …\n${second.text}`;
  return { from: second.from + second.text.length - text.length, text };
}
