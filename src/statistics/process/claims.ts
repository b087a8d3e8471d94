import { isMetric, type MetricNumber, metricNumbers } from './metric-words.ts';
import { tokensOf } from './words.ts';

/** A number that a text states as a result. */
export interface Claim extends MetricNumber {
  sentence: string;
  /** Whether the sentence is about a difference, a ratio or a change. */
  compares: boolean;
}

/** A sentence with one of these is about something wanted, expected, assumed or set, not about a result. */
const notAResult =
  /\b(?:aim(?:s|ing|ed)?|targets?|goals?|objectives?|expect(?:s|ed|ation)?|will|would|should|want(?:s|ed)?|wish|hop(?:e|es|ing)|hopefully|could|may|might|can|cannot|if|until|unless|whether|when|once|plan(?:s|ned|ning)?|try|tries|trying|need(?:s|ed)?|must|require[sd]?|desired|threshold|at (?:least|most)|(?:more|less|greater|better|lower|higher) than(?= [\d$])|above|below|exceeds?|e\.g|for (?:example|instance)|such as|suppose|assum(?:e|es|ed|ing|ption)|likely|probably|possibl[ey]|potential(?:ly)?|guess(?:ed|es)?|hypothes\w+|let'?s|going to|in order to|estimat(?:e|es|ed)|maximum of|limit(?:ed)?)\b|[<>≤≥]|\?\s*$/i;

/** A sentence that begins like this is an instruction. */
const instruction =
  /^(?:to|achieve|reach|get|obtain|improve|increase|reduce|decrease|ensure|keep|beat|lower|raise|evaluate|compute|calculate|check|measure|set|use|add|change|train|run|execute|fix|implement|tune|adjust|make|write|print|modify|edit|optimi[sz]e|replace)\b/i;

const comparison =
  /\b(?:by|differences?|differs?|gaps?|improve(?:d|s|ment|ments)|reduc(?:ed|es|tion)|increas(?:e|es|ed)|decreas(?:e|es|ed)|gain(?:s|ed)?|drop(?:s|ped)?|faster|slower|speed-?up|times|ratio|relative|worse|better|higher|lower|change[ds]?)\b/i;

/** The numbers that a text states as results. Code in fences and between backticks is skipped. */
export function claimsIn(text: string): Claim[] {
  return sentencesOf(text).flatMap((sentence) => {
    const said = sentence.replace(/\bcan (?:also )?(?:be )?see[n]?\b/gi, 'see');
    if (!/\d/.test(said) || notAResult.test(said) || isInstruction(said)) return [];
    const compares = comparison.test(said);
    return metricNumbers(tokensOf(said)).map((found) => ({ ...found, sentence, compares }));
  });
}

/** "Train the model for 5 epochs", but not "Train MAE: 7,504". */
function isInstruction(sentence: string): boolean {
  const [, next] = tokensOf(sentence.slice(0, 100)).filter((token) => token.kind === 'word');
  return instruction.test(sentence) && !(next !== undefined && isMetric(next));
}

/** Sentences and lines, without list markers and emphasis. */
function sentencesOf(text: string): string[] {
  return text
    .replace(/```[\s\S]*?(?:```|$)/g, '\n')
    .replace(/`[^`\n]*`/g, ' code ')
    .replace(/\*\*|__/g, '')
    .split(/\n|(?<=[.!?;])\s+/)
    .map((sentence) =>
      sentence.replace(/^\s*(?:[-+*•>#]+\s+)?(?:\(?\d{1,2}[.):]\s+)?(?:\[[ x]\]\s*)?/i, '').trim(),
    )
    .filter((sentence) => sentence !== '');
}
