import { z } from 'zod';
import { ExperimentFile } from './experiment.ts';

const folder = z.string().min(1);
/**
 * This file is found automatically, so it must not load code: an agent from a file must be named by a flag or in an
 * experiment file.
 */
const agentName = z
  .string()
  .regex(
    /^[\w-]+$/,
    'expected the name of an agent; one that is a file is named with --agent or in an experiment file',
  );
const { models, roles, prices, seeds, limits, parallel, resources, spend, docker_image, gpu, clock, grade } =
  ExperimentFile.shape;

/** Defaults of `mlab run` for keys that neither its experiment file nor a flag sets. */
const RunSettings = z
  .strictObject({
    agents: z
      .array(
        z.union([agentName, z.strictObject({ name: agentName, options: z.record(z.string(), z.unknown()) })]),
      )
      .min(1)
      .describe('agents, by name or with options'),
    ...{ models, roles, prices, seeds, limits, parallel, resources, spend, docker_image, gpu, clock, grade },
    sandbox: z
      .enum(
        ['bubblewrap', 'docker'],
        'expected bubblewrap or docker; set none with --sandbox or in an experiment file',
      )
      .describe('sandbox for agent code'),
  })
  .partial();

/** `mlab.config.yaml`: defaults of all commands. Folders are relative to the file. */
export const SettingsFile = z
  .strictObject({
    experiments: folder.describe('folder of the experiments; default: experiments'),
    tasks: z.array(folder).describe('folders to look for tasks in, in addition to ./tasks and those of mlab'),
    confirm_above: z
      .number()
      .min(0)
      .describe('mlab run asks before runs whose expected cost is higher, in US dollars; default: 10'),
    run: RunSettings.describe('what mlab run starts from: flags and experiment files win'),
  })
  .partial()
  .meta({ id: 'SettingsFile' });
