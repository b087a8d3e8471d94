import { cutMiddle } from './cut-middle.ts';

/** One past turn of an agent. */
export interface PastStep {
  /** What the model wrote besides its action, by entry, in the order of the format. */
  entries: Readonly<Record<string, string>>;
  action: string;
  /** The arguments as the model sees them. */
  input: string;
  observation: string;
  /** Whether the reply could not be executed as written. */
  isMalformed: boolean;
}

/** How much of the history a prompt contains. */
export interface HistoryWindow {
  /** The number of last steps that are shown. */
  steps: number;
  /** The number of these that are shown with their observations. */
  observations: number;
  /** The most characters of one entry, input or observation. */
  characters: number;
}

/** What the agent did and saw, oldest first. */
export class History {
  #steps: PastStep[] = [];

  get length(): number {
    return this.#steps.length;
  }

  get last(): PastStep | undefined {
    return this.#steps.at(-1);
  }

  /**
   * Malformed steps are forgotten after a later step that is well formed, because nothing more can be learned from
   * them.
   */
  add(step: PastStep): void {
    if (!step.isMalformed) this.#steps = this.#steps.filter(({ isMalformed }) => !isMalformed);
    this.#steps.push(step);
  }

  /** The last steps as text; empty if there are none. */
  show({ steps, observations, characters }: HistoryWindow): string {
    // -0 would take all.
    const shown = steps > 0 ? this.#steps.slice(-steps) : [];
    const firstObserved = shown.length - observations;
    return shown
      .map((step, index) => showStep(step, characters, index >= firstObserved ? step.observation : null))
      .join('\n\n');
  }
}

/** What the model wrote in one step. */
export function showReply(
  { entries, action, input }: Omit<PastStep, 'observation'>,
  most = Infinity,
): string {
  const parts = Object.entries({ ...entries, Action: action, 'Action Input': input });
  return parts.map(([name, text]) => `${name}: ${cutMiddle(text, most)}`).join('\n');
}

function showStep(step: PastStep, most: number, observation: string | null): string {
  const observed = observation === null ? '(left out)' : `\n${fenced(cutMiddle(observation, most))}`;
  return `${showReply(step, most)}\nObservation: ${observed}`;
}

/** A block that nothing inside it can close. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/^`{3,}/gm)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
