import type { BranchId, TraceEvent } from '../schema/index.ts';

/** Caveats for what people or policies did in a run: its result is then not only the agent's. */
export class DecisionCaveats {
  readonly #byActor = new Map<string, { replaced: number; denied: number; took: number }>();
  readonly #acting = new Map<BranchId, string | undefined>();

  read(event: TraceEvent): void {
    if (event.kind === 'action_decided') {
      if (event.verdict === 'replace') this.#of(event.actor).replaced += 1;
      if (event.verdict === 'deny') this.#of(event.actor).denied += 1;
    }
    if (event.kind === 'step_started') this.#acting.set(event.branch ?? 'main', event.actor);
    // A step that was interrupted and repeated counts once.
    const actor = event.kind === 'step_finished' ? this.#acting.get(event.branch ?? 'main') : undefined;
    if (actor !== undefined) this.#of(actor).took += 1;
  }

  get caveats(): string[] {
    return [...this.#byActor].map(([actor, counts]) => {
      const parts = Object.entries(counts).flatMap(([did, count]) =>
        count === 0 ? [] : [`${did} ${count}`],
      );
      return `not by its agent alone: of its steps ${actor} ${parts.join(', ')}`;
    });
  }

  #of(actor: string): { replaced: number; denied: number; took: number } {
    const known = this.#byActor.get(actor) ?? { replaced: 0, denied: 0, took: 0 };
    this.#byActor.set(actor, known);
    return known;
  }
}
