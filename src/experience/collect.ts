import { sha256 } from '../lib/hash.ts';
import { plainLine } from '../lib/plain-line.ts';
import type { ExperienceEntry, RunEvaluation, RunSpec, TaskFingerprint } from '../schema/index.ts';
import type { RunTranscript } from '../statistics/index.ts';
import { triesOfEdits } from './edited-tries.ts';
import { triesOfNotes } from './noted-tries.ts';
import type { Try } from './try.ts';

/** A finished run, from its files. */
export interface CollectedRun {
  fingerprint: TaskFingerprint;
  transcript: RunTranscript;
  evaluation: RunEvaluation;
  /** The experiment that planned it: copies of it are the same run. */
  experiment: RunSpec['experiment'];
  /** The agent's name, without model and options. */
  agent: string;
  /** When the run started and ended: milliseconds since 1970. */
  started: number;
  ended: number;
}

/** The agent that notes every try in fixed words, which express what was measured. */
const notingAgent = 'automl';

/** The tries of a run, in the order of its steps. Never throws, whatever agents and their scripts wrote. */
export function collectEntries(run: CollectedRun): ExperienceEntry[] {
  const { transcript, evaluation, fingerprint, experiment, agent } = run;
  const tries =
    agent === notingAgent ? triesOfNotes(transcript) : triesOfEdits(transcript, evaluation.scoring_reference);
  const hidden = new HiddenScores(run);
  return tries.map((each) => ({
    v: 1,
    id: sha256(JSON.stringify([experiment, evaluation.run, run.started, each.last])).slice(0, 12),
    fingerprint,
    change: each.change,
    outcome: each.outcome,
    effect: {
      noise_units: each.noise === null || each.gain === null ? null : rounded(each.gain / each.noise),
      validation: each.gain === null ? null : rounded(each.gain),
      hidden: hidden.gainOf(each),
    },
    seconds: rounded(Math.max(0, secondsAt(transcript, each.last) - secondsAt(transcript, each.before))) ?? 0,
    failure: each.failure === null ? null : plainLine(each.failure, 200),
    source: { experiment, run: evaluation.run, step: each.last },
    agent: plainLine(evaluation.agent, 200),
    time: run.ended,
  }));
}

/** Hidden scores of tries compared with the best one before, if both were graded. */
class HiddenScores {
  readonly #run: CollectedRun;

  constructor(run: CollectedRun) {
    this.#run = run;
  }

  gainOf({ before, last, best }: Try): number | null {
    const { scoring_reference: scoringReference } = this.#run.evaluation;
    const [now, then] = [this.#between(before + 1, last), this.#between(best.before + 1, best.last)];
    if (scoringReference === null || now === null || then === null) return null;
    return rounded(scoringReference.direction === 'maximize' ? now - then : then - now);
  }

  /** The last valid score of these steps; a stale submission belongs to other steps. */
  #between(first: number, last: number): number | null {
    const { grades } = this.#run.evaluation;
    const inside = grades.filter(
      ({ step, valid, stale }) => step >= first && step <= last && valid && !stale,
    );
    return inside.at(-1)?.score ?? null;
  }
}

function secondsAt({ steps }: RunTranscript, wanted: number): number {
  return steps.findLast(({ step }) => step <= wanted)?.used.seconds ?? 0;
}

/** Six significant digits: more would be noise. Null for numbers that JSON can't represent. */
function rounded(value: number): number | null {
  return Number.isFinite(value) ? Number(value.toPrecision(6)) : null;
}
