import { describe, expect, test } from 'vitest';
import { ExperimentFile } from '../schema/index.ts';
import { roleSettings, withModelsOf } from './role-settings.ts';

describe('the roles of a run', () => {
  test("all use the agent's model with the paper's settings by default", () => {
    const model = 'anthropic/a';
    expect(roleSettings(model)).toEqual({
      agent: { model, temperature: 0.5, max_output_tokens: 2000 },
      editor: { model, temperature: 0.5, max_output_tokens: 4000 },
      fast: { model, temperature: 0.5, max_output_tokens: 2000 },
    });
  });

  test('follow the experiment file, even if it leaves the temperature to the provider', () => {
    const roles = roleSettings('anthropic/a', {
      agent: { temperature: null },
      editor: { model: 'openai/b', max_output_tokens: 9 },
    });
    expect(roles?.agent.temperature).toBeNull();
    expect(roles?.editor).toEqual({ model: 'openai/b', temperature: 0.5, max_output_tokens: 9 });
    expect(roles?.fast.model).toBe('anthropic/a');
  });

  test('may name the agent itself; two names for it are refused, and without a name there are no roles', () => {
    expect(roleSettings(null, { agent: { model: 'openai/b' } })?.fast.model).toBe('openai/b');
    expect(() => roleSettings('anthropic/a', { agent: { model: 'openai/b' } })).toThrow(/given twice/);
    expect(roleSettings(null, { fast: { model: 'openai/b' } })).toBeNull();
  });
});

describe('models named by the environment', () => {
  const variables = { MLAB_MODEL: 'env/agent', MLAB_EDITOR_MODEL: 'env/editor', MLAB_FAST_MODEL: '' };

  test('are used if neither flags nor a file name one', () => {
    const { models, roles } = withModelsOf(
      variables,
      ExperimentFile.parse({ roles: { editor: { temperature: 0 } } }),
    );
    expect(models).toEqual(['env/agent']);
    expect(roles).toEqual({ editor: { temperature: 0, model: 'env/editor' } });
  });

  test('must be names of models; otherwise the error names the variable', () => {
    const wrong = () => withModelsOf({ MLAB_MODEL: 'claude' }, ExperimentFile.parse({}));
    expect(wrong).toThrow('MLAB_MODEL is "claude"');
  });

  test('are overridden by flags and files', () => {
    const said = ExperimentFile.parse({ models: ['a/b'], roles: { editor: { model: 'a/c' } } });
    expect(withModelsOf(variables, said)).toEqual(said);
    const inRoles = ExperimentFile.parse({ roles: { agent: { model: 'a/b' }, editor: { model: 'a/c' } } });
    expect(withModelsOf(variables, inRoles)).toEqual(inRoles);
  });
});
