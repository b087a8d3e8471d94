import { UserError } from '../lib/errors.ts';
import {
  type ExperimentFile,
  ModelName,
  type ModelRole,
  type ModelRoles,
  type RoleSettings,
} from '../schema/index.ts';

/** As in the paper: temperature 0.5 for all; 2,000 tokens per reply, and 4,000 for edits of files. */
export const defaultRoles: Readonly<Record<ModelRole, Omit<RoleSettings, 'model'>>> = {
  agent: { temperature: 0.5, max_output_tokens: 2000 },
  editor: { temperature: 0.5, max_output_tokens: 4000 },
  fast: { temperature: 0.5, max_output_tokens: 2000 },
};

/**
 * The roles of a run: those in the experiment file, completed by the defaults. Editor and fast use the agent's model by
 * default.
 * @param model an entry of `models`; null if there is none
 * @returns null if no model is named at all
 * @throws UserError if `models` and `roles.agent.model` name different models
 */
export function roleSettings(model: string | null, roles: ExperimentFile['roles'] = {}): ModelRoles | null {
  const inRoles = roles.agent?.model;
  if (model !== null && inRoles !== undefined && inRoles !== model)
    throw new UserError(
      'bad_roles',
      `The agent's model is given twice: ${model} and ${inRoles} (roles.agent.model).`,
      'Leave one of them out.',
    );
  const agent = model ?? inRoles;
  if (agent === undefined) return null;
  const settle = (role: ModelRole): RoleSettings => {
    const { model: own, temperature, max_output_tokens } = roles[role] ?? {};
    const initial = defaultRoles[role];
    return {
      model: own ?? agent,
      temperature: temperature === undefined ? initial.temperature : temperature,
      max_output_tokens: max_output_tokens ?? initial.max_output_tokens,
    };
  };
  return { agent: settle('agent'), editor: settle('editor'), fast: settle('fast') };
}

/** Variables that name models if neither flags nor a file do. */
export const modelVariables = {
  agent: 'MLAB_MODEL',
  editor: 'MLAB_EDITOR_MODEL',
  fast: 'MLAB_FAST_MODEL',
} as const;

/**
 * An experiment with the models that the environment names, if it names none itself.
 * @throws UserError naming the variable whose value is not the name of a model
 */
export function withModelsOf(
  variables: Readonly<Record<string, string | undefined>>,
  experiment: ExperimentFile,
): ExperimentFile {
  const named = (role: ModelRole) => {
    const name = variables[modelVariables[role]]?.trim() ?? '';
    if (name === '') return undefined;
    if (ModelName.safeParse(name).success) return name;
    throw new UserError(
      'bad_model_name',
      `${modelVariables[role]} is ${JSON.stringify(name)}, which is not the name of a language model.`,
      'Give it as provider/model, such as anthropic/claude-opus-4-5.',
    );
  };
  const agent = named('agent');
  const isNamed = experiment.models.length > 0 || experiment.roles.agent?.model !== undefined;
  const models = isNamed || agent === undefined ? experiment.models : [agent];
  const roles = { ...experiment.roles };
  for (const role of ['editor', 'fast'] as const) {
    const model = named(role);
    if (model !== undefined && roles[role]?.model === undefined) roles[role] = { ...roles[role], model };
  }
  return { ...experiment, models, roles };
}
