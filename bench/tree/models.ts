import type { ModelRequest } from '../../src/schema/index.ts';
import { oneOf, type Random } from '../draws.ts';
import type { Problem } from './problem.ts';
import { readRequest, type TreeRequest } from './read-request.ts';
import { textOf, type Version } from './version.ts';

/** Probabilities with which a simulated model does something; each choice is drawn by itself. */
interface Traits {
  /** It chooses among what is in truth useful; otherwise it chooses blindly. */
  insight: number;
  /** It looks whether the version already has what it is about to add. */
  looks: number;
  /** It leaves out what the prompt says had failed or made a score worse, and reuses what had helped. */
  heeds: number;
  /** It proposes again what the prompt says had failed or made a score worse. */
  repeats: number;
  /** It changes a second thing although it was told to change one. */
  adds: number;
  /** A line of its script is no valid code. */
  breaks: number;
  /** It finds the cause of a failure in the output. */
  repairs: number;
}

/**
 * Three models, as plausible for any agent that asks for a new version of a script:
 * - `weak` proposes changes blindly (three in ten of the pool help), often repeats what the prompt says had failed,
 *   rarely heeds anything else in it, and repairs few failures;
 * - `noisy` mixes useful and blind proposals, often changes more than one thing, and writes broken code the most;
 * - `strong` mostly proposes what is useful and not yet there, and heeds the prompt.
 *
 * All know the names of the pool, and none knows the size of an effect. They read nothing but the request: how much
 * they can heed is what the agent tells them.
 */
export const traits = {
  weak: { insight: 0, looks: 0.7, heeds: 0.2, repeats: 0.3, adds: 0.3, breaks: 0.1, repairs: 0.3 },
  noisy: { insight: 0.3, looks: 0.85, heeds: 0.5, repeats: 0.1, adds: 0.4, breaks: 0.2, repairs: 0.5 },
  strong: { insight: 0.6, looks: 1, heeds: 0.95, repeats: 0, adds: 0.05, breaks: 0.03, repairs: 0.85 },
} as const satisfies Record<string, Traits>;
export type ModelName = keyof typeof traits;
export const modelNames = ['weak', 'noisy', 'strong'] as const satisfies readonly ModelName[];

/** Replies to the requests of the agent `tree`, in the form for models without tool calls. */
export class SimulatedModel {
  readonly #problem: Problem;
  readonly #traits: Traits;
  readonly #random: Random;

  constructor(problem: Problem, name: ModelName, random: Random) {
    this.#problem = problem;
    this.#traits = traits[name];
    this.#random = random;
  }

  reply({ messages }: ModelRequest): string {
    const request = readRequest(messages.find(({ role }) => role === 'user')?.text ?? '');
    const { change, version } = this.#write(request);
    const broken = this.#does('breaks') ? 'use("change-0"' : null;
    return `Change: ${change}\n\n\`\`\`python\n${textOf({ ...version, broken })}\`\`\``;
  }

  #write(request: TreeRequest): { change: string; version: Version } {
    switch (request.operator) {
      case 'draft':
        return this.#draft(request);
      case 'debug':
        return this.#debug(request);
      case 'merge':
        return this.#merge(request);
      default:
        return this.#improve(request);
    }
  }

  /** Another approach, with up to three changes. */
  #draft(request: TreeRequest): { change: string; version: Version } {
    const { approaches, goodApproaches } = this.#problem;
    const heeds = this.#does('heeds');
    const isNew = (name: string) =>
      name !== request.version.approach && !(heeds && request.memory.approaches.has(name));
    const choice = this.#preferred(approaches.filter(isNew), (name) => goodApproaches.includes(name));
    const approach = choice ?? oneOf(approaches, this.#random) ?? '';
    let version: Version = { ...request.version, approach, changes: new Map() };
    const count = 1 + Math.floor(3 * this.#random());
    for (let added = 0; added < count; added += 1)
      version = withChange(version, this.#proposal(version, request));
    return { change: `starts over with ${approach}, ${[...version.changes.keys()].join(', ')}`, version };
  }

  /**
   * Usually adds as many changes as asked for, or one more; one time in ten it takes one out, and one time in ten it
   * changes the approach.
   */
  #improve(request: TreeRequest): { change: string; version: Version } {
    const { version } = request;
    const kind = this.#random();
    if (kind < 0.1) {
      const { approaches, goodApproaches } = this.#problem;
      const others = approaches.filter((name) => name !== version.approach);
      const approach = this.#preferred(others, (name) => goodApproaches.includes(name)) ?? version.approach;
      return { change: `replaces the approach by ${approach}`, version: { ...version, approach } };
    }
    const useful = this.#problem.usefulWith(version.approach);
    const out = this.#preferred([...version.changes.keys()], (name) => !useful.has(name));
    if (kind < 0.2 && out !== undefined)
      return { change: `takes out ${out}`, version: withoutChange(version, out) };
    const count = request.changes + (this.#does('adds') ? 1 : 0);
    const added = new Set<string>();
    let changed = version;
    for (let proposed = 0; proposed < count; proposed += 1) {
      const name = this.#proposal(changed, request);
      added.add(name);
      changed = withChange(changed, name);
    }
    return { change: `adds ${[...added].join(' and ')}`, version: changed };
  }

  /** Repairs the line that the output names, or takes it out, or misses the cause and adds something. */
  #debug(request: TreeRequest): { change: string; version: Version } {
    const { version, culprit } = request;
    if (this.#does('repairs')) {
      if (culprit === null) return { change: 'repairs the code', version };
      return { change: `repairs ${culprit}`, version: withChange(version, culprit, true) };
    }
    if (culprit !== null && this.#random() < 0.5)
      return { change: `takes out ${culprit}`, version: withoutChange(version, culprit) };
    const name = this.#proposal(version, request);
    return { change: `adds ${name}`, version: withChange(version, name) };
  }

  /** Adds the changes of the second version to the first, except those that it knows, or has read, to be bad. */
  #merge({ version, other, memory }: TreeRequest): { change: string; version: Version } {
    const useful = this.#problem.usefulWith(version.approach);
    const taken = [...other.changes].filter(([name]) => {
      if (version.changes.has(name)) return false;
      if (memory.bad.has(name) && this.#does('heeds')) return false;
      return this.#does('insight') ? useful.has(name) : this.#random() < 0.7;
    });
    const change = `adds ${taken.map(([name]) => name).join(', ')} of the second version`;
    return { change, version: { ...version, changes: new Map([...version.changes, ...taken]) } };
  }

  /** The name of a change to add. */
  #proposal(version: Version, { memory }: TreeRequest): string {
    const all = this.#problem.changes;
    if (this.#does('repeats') && memory.bad.size > 0) return oneOf([...memory.bad], this.#random) ?? '';
    const [looks, heeds] = [this.#does('looks'), this.#does('heeds')];
    const open = all.filter(
      (name) => !(looks && version.changes.has(name)) && !(heeds && memory.bad.has(name)),
    );
    const proven = open.filter((name) => memory.good.has(name));
    if (heeds && proven.length > 0 && this.#random() < 0.5) return oneOf(proven, this.#random) ?? '';
    const useful = this.#problem.usefulWith(version.approach);
    return this.#preferred(open, (name) => useful.has(name)) ?? oneOf(all, this.#random) ?? '';
  }

  /** With insight a good one, if there is one; otherwise any. */
  #preferred(names: readonly string[], isGood: (name: string) => boolean): string | undefined {
    const good = this.#does('insight') ? names.filter(isGood) : [];
    return oneOf(good.length > 0 ? good : names, this.#random);
  }

  #does(trait: keyof Traits): boolean {
    return this.#random() < this.#traits[trait];
  }
}

function withChange(version: Version, name: string, repaired = false): Version {
  const before = version.changes.get(name);
  const after = { repaired: repaired || before?.repaired === true };
  return { ...version, changes: new Map([...version.changes, [name, after]]) };
}

function withoutChange(version: Version, name: string): Version {
  return { ...version, changes: new Map([...version.changes].filter(([each]) => each !== name)) };
}
