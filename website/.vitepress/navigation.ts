/** The pages of the site in order, by their paths in the repository. Every page of docs/ is here once; a test holds the two together. */
export interface Section {
  title: string;
  pages: { text: string; page: string }[];
  /** Folded until it is opened. */
  folded?: boolean;
}

export const sections: Section[] = [
  {
    title: 'Start',
    pages: [
      { text: 'Overview', page: 'docs/index.md' },
      { text: 'Quick start', page: 'docs/quick-start.md' },
      { text: 'Concepts', page: 'docs/concepts.md' },
      { text: 'FAQ and troubleshooting', page: 'docs/faq.md' },
      { text: 'Comparison', page: 'docs/comparison.md' },
      { text: 'What you can rely on', page: 'docs/guarantees.md' },
    ],
  },
  {
    title: 'Tutorials',
    pages: [
      { text: 'A first language model', page: 'docs/tutorials/first-model.md' },
      { text: 'Your own task in ten minutes', page: 'docs/tutorials/task-from-a-table.md' },
      { text: 'Measure an outside agent', page: 'docs/tutorials/outside-agent.md' },
      { text: 'Run on a cluster', page: 'docs/tutorials/cluster.md' },
      { text: 'Write an agent in TypeScript', page: 'docs/how-to/write-an-agent.md' },
      { text: 'Write an agent in Python', page: 'docs/how-to/write-an-agent-in-python.md' },
      { text: 'Write a task', page: 'docs/how-to/write-a-task.md' },
    ],
  },
  {
    title: 'Guides',
    pages: [
      { text: 'Look at runs', page: 'docs/how-to/view.md' },
      { text: 'Analyse results in Python', page: 'docs/how-to/analyse-results.md' },
      { text: 'Models and keys', page: 'docs/how-to/models-and-keys.md' },
      { text: 'Local and scripted models', page: 'docs/how-to/local-models.md' },
      { text: 'Outside agents', page: 'docs/agents/programs.md' },
      { text: 'Branch and approve', page: 'docs/how-to/branch-and-approve.md' },
      { text: 'Use as a library', page: 'docs/how-to/use-as-a-library.md' },
      { text: 'Scale to many machines', page: 'docs/how-to/scale.md' },
      { text: 'Watch many runs', page: 'docs/how-to/watch-many-runs.md' },
      { text: 'The model gateway for any program', page: 'docs/how-to/gateway.md' },
      { text: 'Work with an MCP client', page: 'docs/how-to/mcp.md' },
      { text: 'Experience across runs', page: 'docs/how-to/experience.md' },
    ],
  },
  {
    title: 'Agents',
    pages: [
      { text: 'All agents', page: 'docs/agents/index.md' },
      { text: 'research, react, act', page: 'docs/agents/research.md' },
      { text: 'tools', page: 'docs/agents/tools.md' },
      { text: 'tree', page: 'docs/agents/tree.md' },
      { text: 'autogpt', page: 'docs/agents/autogpt.md' },
      { text: 'langchain', page: 'docs/agents/langchain.md' },
      { text: 'automl', page: 'docs/agents/automl.md' },
      { text: 'automl: rewrites', page: 'docs/agents/automl-rewrites.md' },
      { text: 'automl: models', page: 'docs/agents/automl-models.md' },
      { text: 'automl: search', page: 'docs/agents/automl-search.md' },
      ...[
        'aide',
        'aider',
        'claude-code',
        'codex',
        'gemini-cli',
        'goose',
        'mini-swe-agent',
        'opencode',
        'openhands',
        'qwen-code',
      ].map((agent) => ({ text: agent, page: `docs/agents/${agent}.md` })),
      { text: 'command: any program', page: 'docs/agents/command.md' },
      { text: 'acp: Agent Client Protocol', page: 'docs/agents/acp.md' },
    ],
    folded: true,
  },
  {
    title: 'Reference',
    pages: [
      { text: 'Command line', page: 'docs/command-line.md' },
      { text: 'Actions', page: 'docs/reference/actions.md' },
      { text: 'Experiment file', page: 'docs/reference/experiment-file.md' },
      { text: 'mlab.config.yaml', page: 'docs/reference/settings-file.md' },
      { text: 'task.yaml', page: 'docs/reference/task-file.md' },
      { text: 'Tasks', page: 'docs/tasks.md' },
      { text: 'How runs are judged', page: 'docs/evaluation.md' },
      { text: 'What a run leaves on disk', page: 'docs/trace-format.md' },
      { text: 'Events of a trace', page: 'docs/reference/events.md' },
      { text: 'Agent protocol', page: 'docs/agent-protocol.md' },
      { text: 'Jobs and executors', page: 'docs/jobs.md' },
      { text: 'Glossary', page: 'docs/glossary.md' },
      { text: 'TypeScript: mlagentbench', page: 'docs/api/mlagentbench.md' },
      { text: 'TypeScript: mlagentbench/store', page: 'docs/api/store.md' },
      { text: 'TypeScript: mlagentbench/task', page: 'docs/api/task.md' },
      { text: 'TypeScript: mlagentbench/agent', page: 'docs/api/agent.md' },
      { text: 'TypeScript: mlagentbench/testing', page: 'docs/api/testing.md' },
    ],
  },
  {
    title: 'Results',
    pages: [
      { text: 'The starter suite', page: 'docs/reports/starter-suite.md' },
      { text: 'automl on all CPU tasks', page: 'docs/reports/automl.md' },
      { text: 'Runs of the original', page: 'docs/reports/recorded-runs.md' },
      { text: 'Performance', page: 'docs/benchmarks.md' },
    ],
  },
  {
    title: 'Project',
    pages: [
      { text: 'How to cite', page: 'docs/how-to-cite.md' },
      { text: 'Security', page: 'SECURITY.md' },
      { text: 'Threat model', page: 'docs/threat-model.md' },
      { text: 'Changelog', page: 'CHANGELOG.md' },
      { text: 'Contributing', page: 'CONTRIBUTING.md' },
      { text: 'Code of conduct', page: 'CODE_OF_CONDUCT.md' },
      { text: 'Repository guide', page: 'AGENTS.md' },
      { text: 'Architecture', page: 'docs/architecture.md' },
      { text: 'Decisions', page: 'docs/decisions/index.md' },
    ],
  },
];

const onSite: Record<string, string> = { 'README.md': 'index.md', 'AGENTS.md': 'repository-guide.md' };

/** Where a page of the repository lies on the site: `docs/` is the root, and `CHANGELOG.md` becomes `changelog.md`. */
export function sitePath(page: string): string {
  return page.startsWith('docs/') ? page.slice('docs/'.length) : (onSite[page] ?? page.toLowerCase());
}
