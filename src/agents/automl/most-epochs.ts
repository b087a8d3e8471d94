/** The number of epochs that a task allows, if its text has a sentence that commands or limits it; null otherwise. */
export function maxEpochs(problem: string): number | null {
  const limits = problem
    .replace(/[*_`]/g, '')
    .split(/[.!?;]\s/)
    .filter((sentence) =>
      /\b(?:most|no more|not more|maximum|up to|limit\w*|exceed\w*|or fewer|or less|must)\b|^\s*Train\b/m.test(
        sentence,
      ),
    )
    .flatMap((sentence) =>
      [...sentence.matchAll(/\b(\d{1,4})\s+(?:\w+\s+)?epochs?\b/g)].map(([, number]) => Number(number)),
    )
    .filter((number) => number > 0);
  return limits.length === 0 ? null : Math.min(...limits);
}
