import type { TableContract } from './contract.ts';
import { pythonFile } from './python-file.ts';

/** Models of `python/automl/table.py` that are blended, and what they cost together. */
export interface Blend {
  members: string[];
  /** Expected seconds in those of the quick model; measured on small tables, and rather too high than too low. */
  cost: number;
}

/** The one model to hand in first. */
export function quickMember({ texts, shared }: TableContract): string {
  return texts === shared ? 'linear' : 'boosting';
}

/** Blends to try after the quick model, the one that promises most first. */
export function blendsFor(contract: TableContract): Blend[] {
  const { rows, classifies } = contract;
  const light = ['boosting', 'forest', 'linear'];
  const all = ['boosting', 'deep_boosting', 'forest', 'linear'];
  // Its time grows with the square of the rows.
  if (!classifies && rows <= 5_000) all.push('kernel');
  const blends = [{ members: light, cost: 6 }];
  // It looks at every value of every column in each of its trees.
  return rows <= 20_000 ? [{ members: all, cost: 12 }, ...blends] : blends;
}

/** The entry script that fulfils a contract with these models. `metricName`: as the task spells it. */
export function tableScript(contract: TableContract, members: readonly string[], metricName: string): string {
  return pythonFile('table.py', {
    TRAIN: contract.train,
    TEST: contract.test,
    SUBMISSION: contract.submission,
    ID: contract.id,
    TARGETS: contract.targets,
    CLASS_COLUMNS: contract.classColumns,
    WRITES_PROBABILITY: contract.writesProbability,
    ROUNDS_TO_WHOLE: contract.roundsToWhole,
    BOUNDS: contract.bounds,
    CLASSIFIES: contract.classifies,
    METRIC: contract.metric,
    // Another measure must not be taken for the task's.
    METRIC_NAME: contract.isMeasured ? metricName : `${contract.metric} instead`,
    MEMBERS: members,
  });
}
