import type { Evidence, ProcessMetrics } from '../../schema/index.ts';
import { type Claim, claimsIn } from './claims.ts';
import { Measurements, numbersOf, type ObservedNumbers } from './measurements.ts';
import type { RunTranscript, TranscriptStep } from './run-transcript.ts';
import { editedFile, isEdit, isReading, plainPath, ran } from './steps.ts';

const maxExamples = 20;
/** Entries in which an agent states expectations. */
const expectation = /predict|expect|hypothes|goal/i;

/** A claim with its position, and whether an earlier measurement contains its number. */
export interface JudgedClaim extends Claim {
  /** The step that it was written before, or in. */
  step: number;
  entry: string;
  grounded: boolean;
}

/** Numbers stated as results, and those without an earlier measurement. */
export function grounding(claims: readonly JudgedClaim[]): ProcessMetrics['grounding'] {
  const ungrounded = claims.filter(({ grounded }) => !grounded);
  return {
    claims: claims.length,
    ungrounded: ungrounded.length,
    examples: ungrounded.slice(0, maxExamples).map(evidenceOf),
  };
}

function evidenceOf({ step, entry, sentence }: JudgedClaim): Evidence {
  return { step, text: `${entry}: ${sentence.slice(0, 300)}` };
}

/** Every claim of the run at its first mention, in order. */
export function judgedClaims(transcript: RunTranscript, observed: ObservedNumbers): JudgedClaim[] {
  const judge = new ClaimJudge(transcript.problem, observed);
  const rejected = Map.groupBy(transcript.formatErrors, ({ afterStep }) => afterStep);
  const readRejected = (step: number) => {
    for (const { reply } of rejected.get(step) ?? []) judge.read(step, 'rejected reply', saidIn(reply));
  };
  readRejected(0);
  for (const step of transcript.steps) {
    judge.follow(step);
    readRejected(step.step);
  }
  const last = transcript.steps.at(-1)?.step ?? 0;
  judge.learnElsewhere(transcript.printedElsewhere ?? []);
  for (const [entry, text] of Object.entries(transcript.lastEntries)) judge.read(last, entry, text);
  const answered = transcript.steps.findLast(({ action }) => action === 'Final Answer')?.step ?? last;
  judge.read(answered, 'Final Answer', transcript.end?.finalAnswer ?? '');
  return judge.claims;
}

/** The part of a reply before it names its action, or makes up an observation. */
function saidIn(reply: string): string {
  return reply.split(/^[ \t*#"]*(?:Action|Action Input|Observation|Command)\b/im)[0] ?? '';
}

/** Follows a run: what was measured, who wrote which file, and what was claimed. */
class ClaimJudge {
  readonly claims: JudgedClaim[] = [];
  readonly #observed: ObservedNumbers;
  readonly #measurements = new Measurements();
  readonly #mentioned = new Set<string>();
  /** Files that steps wrote, by who wrote them last. */
  readonly #writers = new Map<string, 'agent' | 'script'>();

  constructor(problem: string, observed: ObservedNumbers) {
    this.#observed = observed;
    this.#measurements.tell(problem);
  }

  follow(step: TranscriptStep): void {
    for (const [entry, text] of Object.entries(step.entries)) this.read(step.step, entry, text);
    const { content } = step.args;
    if (step.action === 'Append Summary to Research Log' && typeof content === 'string')
      this.read(step.step, 'research log', content);
    this.#learn(step);
    const writer = ran(step) ? 'script' : 'agent';
    for (const path of step.changed) this.#writers.set(path, writer);
    const edited = isEdit(step) ? editedFile(step) : null;
    if (edited !== null) this.#writers.set(edited, 'agent');
  }

  /** What was measured in other branches may be told at the end. */
  learnElsewhere(outputs: readonly string[]): void {
    for (const output of outputs) this.#measurements.measure(numbersOf(output));
  }

  read(step: number, entry: string, text: string): void {
    if (expectation.test(entry)) return;
    for (const claim of claimsIn(text)) {
      const name = `${claim.number.value} ${claim.number.suffix}`;
      if (this.#mentioned.has(name) || this.#measurements.isGiven(claim)) continue;
      this.#mentioned.add(name);
      this.claims.push({ ...claim, step, entry, grounded: this.#measurements.supports(claim) });
    }
  }

  #learn(step: TranscriptStep): void {
    if (step.byModel) return;
    if (ran(step)) {
      const source = shownFiles(step).map((path) => this.#writers.get(path));
      if (!source.includes('agent')) this.#measurements.measure(this.#observed.of(step));
    } else if (isReading(step)) {
      const writer = this.#writers.get(readFile(step));
      if (writer === 'script') this.#measurements.measure(this.#observed.of(step));
      if (writer === undefined) this.#measurements.tell(step.observation);
    } else if (step.action === 'Check Budget' || step.action === 'Request Help') {
      this.#measurements.tell(step.observation);
    }
  }
}

function readFile({ args }: TranscriptStep): string {
  const path = args.file_name ?? args.script_name ?? args.dir_path;
  return typeof path === 'string' ? plainPath(path) : '';
}

/** The files that a command only prints: their content is not a result of it. */
function shownFiles({ action, args }: TranscriptStep): string[] {
  if (action !== 'Run Command' || typeof args.command !== 'string') return [];
  const parts = args.command.split(/&&|;|\||\n/).map((part) => part.trim());
  if (!parts.every((part) => /^(?:cat|head|tail|less|sed|grep|wc|ls|cd)\b/.test(part))) return [];
  return parts.flatMap((part) => part.split(/\s+/).slice(1).map(plainPath));
}
