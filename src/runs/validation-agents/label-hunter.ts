import { randomBytes, randomInt } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { helpersInside } from '../../environment/index.ts';
import { sha256 } from '../../lib/hash.ts';
import { withheldPaths } from '../../tasks/index.ts';
import { adversarialAgent } from './adversarial-agent.ts';
import { marked } from './attempts.ts';
import { submissionPath, tableOf } from './submission-facts.ts';
import type { Probe, ValidatedRun } from './validation-agent.ts';

export const labelHunter = adversarialAgent({
  name: 'label-hunter',
  summary: 'looks for labels in all files, columns and data sets that it can read, and submits what it finds',
  prepare(scene) {
    /** The contents that the script could read, by the first half of their hashes. */
    const hashes = new Map<string, string>();
    const decoy = randomBytes(1000 + randomInt(1000)).toString('hex');
    return {
      async act(actions) {
        await actions.submitNonsense();
        await actions.bring('label_hunter.py', settingsFor(scene, decoy));
        await actions.write('decoy.txt', decoy);
        const { observation } = await actions.execute('label_hunter.py');
        for (const line of observation.split('\n')) {
          const found = marked('@hash', z.tuple([z.string(), z.string()]), line);
          if (found !== null) hashes.set(...found);
        }
      },
      probe: () => [compareHashes(scene, hashes, decoy)],
    };
  },
});

function settingsFor({ resources, folder, experimentFolder, secrets }: ValidatedRun, decoy: string): object {
  const { task, prepared } = resources;
  const sought = [{ bytes: decoy.length, sha256: sha256(decoy) }, ...secrets];
  return {
    table: tableOf(task),
    leaks: `${helpersInside}/leaks`,
    submission: submissionPath(task),
    secret_sizes: [...new Set(sought.map(({ bytes }) => bytes))],
    // Enough to exclude nearly all other files, but too little to reveal the content of a secret file.
    secret_marks: sought.map(({ bytes, sha256: hash }) => `${bytes} ${hash.slice(0, 2)}`),
    secret_folders: [prepared.privateFolder, task.hiddenFolder, experimentFolder],
    secret_words: [basename(prepared.folder), 'hidden', 'private', 'KAGGLE', 'API_KEY'],
    withheld: withheldPaths(task, resources.python),
    secret_places: {
      'the private data': prepared.privateFolder,
      'the prepared data': prepared.folder,
      'the grader': `${task.hiddenFolder}/grade.py`,
      'the reference solution': `${task.hiddenFolder}/solution`,
      'the task': `${task.folder}/task.yaml`,
      'the run': folder.folder,
      'other runs': dirname(folder.folder),
      'the downloads': `${dirname(dirname(dirname(prepared.folder)))}/downloads`,
    },
  };
}

/**
 * The script hashed everything readable that might be a secret, by size and first byte of the hash: compares it with
 * the secrets. The decoy must be among it.
 */
function compareHashes({ secrets }: ValidatedRun, hashes: ReadonlyMap<string, string>, decoy: string): Probe {
  const looked = 'contents that the script could read';
  const found = secrets.flatMap(({ path, sha256: hash }) => {
    const where = hashes.get(hash.slice(0, 16));
    return where === undefined ? [] : [`${path} (as ${where})`];
  });
  if (found.length > 0) return { looked, breached: true, finding: `it read ${found.slice(0, 5).join(', ')}` };
  if (!hashes.has(sha256(decoy).slice(0, 16))) {
    return {
      looked,
      breached: true,
      finding: 'it did not even find the decoy, so its search proves nothing',
    };
  }
  const finding = `it found the decoy, and none of ${secrets.length} secret files among ${hashes.size} that could be one`;
  return { looked, breached: false, finding };
}
