import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { adversarialAgent } from './adversarial-agent.ts';
import { filesBelow } from './secrets.ts';
import { submissionPath } from './submission-facts.ts';
import type { Probe, ValidatedRun } from './validation-agent.ts';

export const dataWriter = adversarialAgent({
  name: 'data-writer',
  summary:
    'writes, truncates, renames, deletes and mounts over read-only data, helpers, packages and the grader',
  prepare(scene) {
    // The run removes it at its end.
    let manifest: string | null = null;
    return {
      async act(actions) {
        await actions.submitNonsense();
        await actions.bring('data_writer.py', settingsFor(scene));
        await actions.execute('data_writer.py');
        manifest = readFileSync(join(scene.folder.folder, 'task.json'), 'utf8');
      },
      probe: () => [manifestProbe(manifest, scene)],
    };
  },
});

function settingsFor({ resources, token, folder }: ValidatedRun): object {
  const { task, prepared, python } = resources;
  const data = filesBelow(prepared.publicFolder).slice(0, 2);
  const packages = readdirSync(python.sitePackages).includes('numpy')
    ? 'numpy/__init__.py'
    : 'pip/__init__.py';
  const readOnly = task.file.read_only.filter((path) => existsSync(join(task.environmentFolder, path)));
  return {
    token,
    submission: submissionPath(task),
    targets: {
      ...Object.fromEntries(
        data.map((path) => {
          const inside = path.slice(prepared.publicFolder.length + 1);
          return [`the task's ${inside}`, `/workspace/data/${inside}`];
        }),
      ),
      "the harness's format check": '/mlab/check_submission.py',
      "the task's manifest": '/mlab-task/task.json',
      'a Python package': join(python.sitePackages, packages),
      "the system's shell": '/bin/sh',
    },
    // Apart from these, the workspace is the agent's own.
    workspace_targets: Object.fromEntries(
      readOnly.map((path) => [`the read-only ${path}`, `/workspace/${path}`]),
    ),
    far_targets: {
      'the grader': join(task.hiddenFolder, 'grade.py'),
      'the hidden data': join(prepared.privateFolder, 'labels.csv'),
      'the task': join(task.folder, 'task.yaml'),
      "the run's record": folder.recordPath,
      "the run's trace": folder.tracePath,
      "the run's grades": folder.gradesPath,
    },
  };
}

/**
 * The check inside the sandbox trusts this file.
 * @param manifest after the attempts; null if it could not be read
 */
function manifestProbe(manifest: string | null, { resources }: ValidatedRun): Probe {
  const { metric, submission } = resources.task.file;
  const isWhole = manifest === JSON.stringify({ metric, submission });
  return {
    looked: "the task's manifest on the host",
    breached: !isWhole,
    finding: isWhole ? 'says what task.yaml says' : 'was changed',
  };
}
