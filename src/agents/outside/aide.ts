import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { baseUrls, outsideAgent } from './outside-agent.ts';

const loop = join(import.meta.dirname, '../../../python/outside/aide_loop.py');

/**
 * What AIDE imports. Its package requires some forty more, for the scripts that it writes. Here, these scripts have the
 * task's own packages; and two of the forty can only be had by building them, which would run a stranger's code outside
 * the sandbox.
 */
const imported = [
  ...['annotated-types==0.8.0', 'anthropic==0.125.0', 'anyio==4.16.0', 'attrs==26.1.0', 'backoff==2.2.1'],
  ...['black==24.3.0', 'certifi==2026.10.18', 'charset-normalizer==3.5.2', 'click==8.5.1', 'coolname==5.0.0'],
  ...['dataclasses-json==0.6.7', 'distro==1.9.0', 'docstring-parser==0.18.0', 'funcy==2.0', 'genson==1.4.0'],
  ...['h11==0.16.0', 'httpcore==1.0.9', 'httpx==0.28.1', 'humanize==4.8.0', 'idna==3.20', 'igraph==1.0.0'],
  ...['jiter==0.19.0', 'jsonschema==4.19.2', 'jsonschema-specifications==2025.9.1', 'markdown-it-py==4.3.0'],
  ...['marshmallow==3.26.2', 'mdurl==0.1.2', 'mypy-extensions==1.2.0', 'numpy==2.4.6', 'omegaconf==2.4.0'],
  ...['openai==1.109.1', 'packaging==26.3', 'pandas==3.1.1', 'pathspec==1.1.1', 'platformdirs==4.14.7'],
  ...['pydantic==2.14.3', 'pydantic-core==2.50.4', 'pygments==2.21.0', 'python-dateutil==4.0.0'],
  ...['pyyaml==6.0.3', 'referencing==0.37.0', 'requests==2.34.2', 'rich==13.7.0', 'rpds-py==2026.9.1'],
  ...['shutup==0.3.0', 'six==1.17.0', 'sniffio==1.3.1', 'texttable==1.7.2', 'tqdm==4.70.1'],
  ...['typing-extensions==4.16.0', 'typing-inspect==0.9.0', 'typing-inspection==0.4.5', 'tzdata==2026.6'],
  'urllib3==2.8.0',
];

/** Weco's AIDE: a tree search over whole scripts. */
export const aide = outsideAgent(
  'aide',
  "Weco's AIDE, a tree search over scripts that draft, improve and debug a solution.",
  {
    package: { registry: 'pypi', name: 'aideml', version: '0.2.2', beside: imported, isWhole: true },
    licence: 'MIT',
    dialects: ['chat_completions'],
    start: ({ bundle, gateway, token, brief, entry, home, options }) => ({
      // Uses the task's interpreter, because AIDE runs the scripts that it writes within its own.
      argv: ['python', '-I', `${home}/aide_loop.py`, bundle, brief, entry, String(options.steps)],
      variables: { OPENAI_API_KEY: token, OPENAI_BASE_URL: baseUrls(gateway).openai },
      files: { 'aide_loop.py': readFileSync(loop, 'utf8') },
    }),
  },
  { steps: { description: 'solutions that it tries', default: 20 } },
);
