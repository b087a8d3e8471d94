import type { Environment } from '../../../environment/index.ts';
import type { ModelMessage } from '../../../schema/index.ts';
import { CarefulSteps } from '../careful-steps.ts';
import { type ParsedReply, parseReply, type ReplyFormat } from '../replies/index.ts';
import { condense } from './condense.ts';
import { cutMiddle } from './cut-middle.ts';
import { History, type HistoryWindow, type PastStep, showReply } from './history.ts';
import { correction, nothingDoneYet, recentSteps } from './prompts.ts';
import type { DialogueSettings } from './settings.ts';

/** A reply of the model that leads to an action. */
export interface DialogueTurn {
  /** What it wrote besides its action, by entry. */
  entries: Record<string, string>;
  /** The action that it named, known or not; null if it named none. */
  action: string | null;
  /** Null if they could not be read. */
  args: Record<string, unknown> | null;
  /** What is wrong with the reply, for the model; empty if nothing is. */
  complaint: string;
}

/** The result of a turn, as it appears in the history. */
export interface Done {
  step: PastStep;
  /** The run is over. */
  ended: boolean;
}

/** The model must not imagine its own observations. */
const stopTexts = ['\nObservation:'];

/**
 * The conversation of an agent whose model writes its actions as text. It consists of a constant first part, then what
 * the agent adds, the last steps and the run's state. Nothing that the model writes makes it throw.
 */
export class Dialogue {
  readonly history = new History();
  readonly #environment: Environment;
  readonly #head: string;
  readonly #format: ReplyFormat;
  readonly #settings: DialogueSettings;
  readonly #steps: CarefulSteps;
  #unusable = 0;

  constructor(environment: Environment, head: string, format: ReplyFormat, settings: DialogueSettings) {
    this.#environment = environment;
    this.#head = head;
    this.#format = format;
    this.#settings = settings;
    this.#steps = new CarefulSteps(environment);
  }

  /** What the model wants to do next; null if the run is over, or nothing more can be done. */
  async nextTurn(lead = ''): Promise<DialogueTurn | null> {
    const { attempts, formatErrors } = this.#settings;
    let note = '';
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const reply = await this.#ask(lead, note);
      if (reply === null) return null;
      const parsed = parseReply(reply, this.#environment.actions, this.#format);
      this.#keep(parsed);
      const complaint = formatErrors === 'nothing' ? this.#rejection(reply, parsed) : null;
      if (complaint === null) return turnOf(parsed);
      note = correction(complaint, this.#labels);
    }
    this.#giveUpReplies();
    return null;
  }

  /** Executes a turn, and adds it to the history with its result. */
  async take(turn: DialogueTurn): Promise<Done> {
    const isMalformed = turn.complaint !== '';
    this.#unusable = isMalformed ? this.#unusable + 1 : 0;
    const { observation, ended } = await this.#act(turn);
    const said = { ...replyOf(turn), isMalformed };
    const shown = ended
      ? observation
      : await condense(this.#environment, showReply(said), { ...said, observation }, this.#settings.condense);
    const step = { ...said, observation: shown };
    this.history.add(step);
    if (ended || this.#settings.formatErrors === 'nothing' || this.#unusable < this.#settings.attempts)
      return { step, ended };
    this.#giveUpReplies();
    return { step, ended: true };
  }

  async #act(turn: DialogueTurn): Promise<{ observation: string; ended: boolean }> {
    const { formatErrors, showsState } = this.#settings;
    const { complaint } = turn;
    if (complaint !== '' && formatErrors === 'nothing') return { observation: complaint, ended: false };
    const action = { name: turn.action ?? '(none)', args: turn.args ?? {} };
    const takes = showsState ? this.#steps.take(action) : this.#environment.step(action);
    const { observation, ended } = await takes;
    return { observation: complaint === '' ? observation : `${complaint}\n${observation}`, ended };
  }

  /** Asks the model. If the conversation is too long for it, sends less and less of the history. */
  async #ask(lead: string, note: string): Promise<string | null> {
    let tooLong = '';
    for (const window of this.#windows()) {
      const messages = this.#messages(lead, note, window);
      const reply = await this.#environment.ask({ role: 'agent', purpose: 'act', messages, stop: stopTexts });
      if (reply.kind === 'answered') return reply.text;
      if (reply.kind === 'closed') return null;
      if (reply.kind === 'refused') {
        this.#environment.giveUp('refused', `The model declined to go on: ${reply.message}`);
        return null;
      }
      tooLong = reply.message;
    }
    this.#environment.giveUp('context_limit', `The conversation is too long for the model: ${tooLong}`);
    return null;
  }

  #windows(): HistoryWindow[] {
    const { window, shortens } = this.#settings;
    if (!shortens) return [window];
    const { steps, observations, characters } = window;
    const one = { steps: Math.min(1, steps), observations: Math.min(1, observations) };
    return [
      window,
      { steps, observations: one.observations, characters },
      { ...one, characters: Math.min(4000, characters) },
      { ...one, characters: Math.min(800, characters) },
    ];
  }

  #messages(lead: string, note: string, window: HistoryWindow): ModelMessage[] {
    const history = this.history.show(window);
    const parts = [
      cutMiddle(lead, 2 * window.characters),
      history === '' ? nothingDoneYet : recentSteps(history),
      this.#settings.showsState ? this.#steps.state.describe() : '',
      note,
    ];
    return [
      { role: 'system', text: this.#head, stable: true },
      // Models can write unpaired surrogates, which no provider accepts.
      {
        role: 'user',
        text: parts
          .filter((part) => part !== '')
          .join('\n\n')
          .toWellFormed(),
      },
    ];
  }

  /** For human readers: what the model thought, and what was wrong with its reply. */
  #keep(parsed: ParsedReply): void {
    const entries = parsed.ok ? parsed.entries : { ...parsed.entries, 'Format error': parsed.message };
    if (Object.keys(entries).length > 0) this.#environment.note(entries);
  }

  /** Why a reply is requested again, if that costs nothing by the paper's rules; null if the reply is accepted. */
  #rejection(reply: string, parsed: ParsedReply): string | null {
    const missing = this.#labels.filter((label) => !reply.includes(`${label}:`));
    if (missing.length > 0) return `It lacks ${missing.map((label) => `"${label}:"`).join(', ')}.`;
    return parsed.ok || unreadableInput.has(parsed.reason) ? null : parsed.message;
  }

  #giveUpReplies(): void {
    const message = `The model gave no usable reply ${this.#settings.attempts} times in a row.`;
    this.#environment.giveUp('reply_format', message);
  }

  get #labels(): string[] {
    return [...this.#format.entries, 'Action', 'Action Input'];
  }
}

/** A known action with incomplete arguments. */
const unreadableInput: ReadonlySet<string> = new Set(['unreadable_input', 'cut_off', 'missing_argument']);

function turnOf(parsed: ParsedReply): DialogueTurn {
  const { entries, action } = parsed;
  return parsed.ok
    ? { entries, action, args: parsed.args, complaint: '' }
    : parsed.reason === 'unknown_action'
      ? // The environment says which actions there are.
        { entries, action: parsed.written, args: {}, complaint: '' }
      : { entries, action, args: null, complaint: parsed.message };
}

function replyOf({ entries, action, args }: DialogueTurn): Omit<PastStep, 'observation' | 'isMalformed'> {
  const input = args === null ? '(could not be read)' : JSON.stringify(args, null, 1);
  return { entries, action: action ?? '(none)', input };
}
