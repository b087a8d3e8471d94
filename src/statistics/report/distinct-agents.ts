import type { RunEvaluation } from '../../schema/index.ts';

const hashDigits = 6;

/**
 * Gives agents with the same label and different sources separate labels: `climber@1.2.0(rounds=2)` if all their
 * versions differ, otherwise `climber@3f2a91(rounds=2)` with the hash of the source.
 */
export function distinctAgents(evaluations: readonly RunEvaluation[]): RunEvaluation[] {
  const suffixes = new Map(
    [...Map.groupBy(evaluations, ({ agent }) => agent)].map(([agent, runs]) => [agent, suffixesOf(runs)]),
  );
  return evaluations.map((run) => {
    const suffix = suffixes.get(run.agent)?.get(run.source?.hash);
    return suffix === undefined
      ? run
      : { ...run, agent: run.agent.replace(/^[^(]*/, (name) => `${name}@${suffix}`) };
  });
}

/** By hash; none if all runs have the same source. */
function suffixesOf(runs: readonly RunEvaluation[]): Map<string | undefined, string> {
  const versions = new Map(runs.map(({ source }) => [source?.hash, source?.version]));
  if (versions.size < 2) return new Map();
  const given = [...versions.values()].filter((version) => version !== undefined);
  const differ = new Set(given).size === versions.size;
  return new Map(
    [...versions].flatMap(([hash, version]) =>
      hash === undefined
        ? []
        : [[hash, differ && version !== undefined ? version : hash.slice(0, hashDigits)]],
    ),
  );
}
