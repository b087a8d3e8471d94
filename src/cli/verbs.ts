import type { Verb } from './verb.ts';

/** Where a verb is, and its line in the list of verbs; the verb itself is loaded only when called. */
export interface VerbEntry {
  name: string;
  summary: string;
  load: () => Promise<Verb>;
}

/** The order of commands in `mlab --help`, by their first words. */
export const commandGroups = {
  'Run agents': ['run', 'agents', 'decide', 'mcp'],
  'Inspect results': ['view', 'report', 'runs', 'grade', 'verify', 'judge'],
  Tasks: ['tasks', 'prepare'],
  'Language models': ['models', 'gateway'],
  Experience: ['experience'],
  Clusters: ['worker', 'workers'],
  'Set-up': ['init', 'doctor', 'completion'],
};

/** Verbs by name, alone or in a group such as `runs ls`. */
export const verbs: readonly VerbEntry[] = [
  {
    name: 'tasks ls',
    summary: 'list tasks and suites',
    load: async () => (await import('./verbs/tasks-ls.ts')).tasksLs,
  },
  {
    name: 'tasks show',
    summary: 'show a task: problem, metric, baseline and reference scores',
    load: async () => (await import('./verbs/tasks-show.ts')).tasksShow,
  },
  {
    name: 'tasks check',
    summary: 'validate a task: run its oracle, no-op, baseline and adversarial agents',
    load: async () => (await import('./verbs/tasks-check.ts')).tasksCheck,
  },
  {
    name: 'tasks new',
    summary: 'create a task from a CSV file and measure its baseline and reference',
    load: async () => (await import('./verbs/tasks-new.ts')).tasksNew,
  },
  {
    name: 'tasks baseline',
    summary: 'measure the score of the starter, or of the reference solution, over several seeds',
    load: async () => (await import('./verbs/tasks-baseline.ts')).tasksBaseline,
  },
  {
    name: 'agents',
    summary: 'list agents and their options, or load agents of your own',
    load: async () => (await import('./verbs/agents-ls.ts')).agentsLs,
  },
  {
    name: 'prepare',
    summary: 'download the data of tasks and create their Python environments',
    load: async () => (await import('./verbs/prepare.ts')).prepare,
  },
  {
    name: 'run',
    summary: 'run agents on tasks, or resume what was interrupted',
    load: async () => (await import('./verbs/run.ts')).run,
  },
  {
    name: 'decide',
    summary: 'allow, deny or replace the action for which a run awaits approval',
    load: async () => (await import('./verbs/decide.ts')).decide,
  },
  {
    name: 'mcp',
    summary: 'serve a task over MCP; each tool call of the client is a step of a run',
    load: async () => (await import('./verbs/mcp.ts')).mcp,
  },
  {
    name: 'worker',
    summary: 'execute one job from a file, or jobs from Redis',
    load: async () => (await import('./verbs/worker.ts')).worker,
  },
  {
    name: 'workers',
    summary: 'list the workers of a Redis and what each is doing',
    load: async () => (await import('./verbs/workers.ts')).workers,
  },
  {
    name: 'grade',
    summary: 'grade the final submissions of runs, or every step',
    load: async () => (await import('./verbs/grade.ts')).grade,
  },
  {
    name: 'verify',
    summary: 'rerun the final code of runs and check that it reproduces their scores',
    load: async () => (await import('./verbs/verify.ts')).verify,
  },
  {
    name: 'report',
    summary: 'print the results of experiments as tables',
    load: async () => (await import('./verbs/report.ts')).report,
  },
  {
    name: 'view',
    summary: 'open experiments, runs and steps in the browser, live',
    load: async () => (await import('./verbs/view.ts')).view,
  },
  {
    name: 'judge',
    summary: 'rate runs with a language model as judge',
    load: async () => (await import('./verbs/judge.ts')).judge,
  },
  {
    name: 'runs ls',
    summary: 'list runs, with filters',
    load: async () => (await import('./verbs/runs-ls.ts')).runsLs,
  },
  {
    name: 'runs show',
    summary: 'show a run step by step, or one step in full',
    load: async () => (await import('./verbs/runs-show.ts')).runsShow,
  },
  {
    name: 'runs trace',
    summary: 'print the recorded events of runs, one JSON object per line',
    load: async () => (await import('./verbs/runs-trace.ts')).runsTrace,
  },
  {
    name: 'runs calls',
    summary: 'list the model calls of a run, or show one in full',
    load: async () => (await import('./verbs/runs-calls.ts')).runsCalls,
  },
  {
    name: 'runs diff',
    summary: 'show what changed in the workspace between two steps',
    load: async () => (await import('./verbs/runs-diff.ts')).runsDiff,
  },
  {
    name: 'runs restore',
    summary: 'restore the workspace of any step to a folder',
    load: async () => (await import('./verbs/runs-restore.ts')).runsRestore,
  },
  {
    name: 'runs check',
    summary: 'check the integrity of recorded runs: trace, hash chain, objects',
    load: async () => (await import('./verbs/runs-check.ts')).runsCheck,
  },
  {
    name: 'runs retry',
    summary: 'rerun runs that failed because of infrastructure problems',
    load: async () => (await import('./verbs/runs-retry.ts')).runsRetry,
  },
  {
    name: 'runs cancel',
    summary: 'cancel the jobs of experiments or runs on Redis, Slurm or Kubernetes',
    load: async () => (await import('./verbs/runs-cancel.ts')).runsCancel,
  },
  {
    name: 'runs rm',
    summary: 'delete experiments with all their runs',
    load: async () => (await import('./verbs/runs-rm.ts')).runsRm,
  },
  {
    name: 'runs import',
    summary: 'import runs of the original MLAgentBench as an experiment',
    load: async () => (await import('./verbs/runs-import.ts')).runsImport,
  },
  {
    name: 'runs export',
    summary: 'export runs as tables (CSV, Parquet), JSON Lines, a git repository or MLAgentBench logs',
    load: async () => (await import('./verbs/runs-export.ts')).runsExport,
  },
  {
    name: 'experience add',
    summary: 'collect what finished runs tried and what it achieved',
    load: async () => (await import('./verbs/experience-add.ts')).experienceAdd,
  },
  {
    name: 'experience ls',
    summary: 'list collected experience, or what a run on a task would be given',
    load: async () => (await import('./verbs/experience-ls.ts')).experienceLs,
  },
  {
    name: 'experience search',
    summary: 'search collected experience',
    load: async () => (await import('./verbs/experience-search.ts')).experienceSearch,
  },
  {
    name: 'models',
    summary: 'list model providers and what is missing to use them; test a model with --ping',
    load: async () => (await import('./verbs/models.ts')).models,
  },
  {
    name: 'gateway',
    summary: 'proxy language models for programs on this machine, with limits, recording and costs',
    load: async () => (await import('./verbs/gateway.ts')).gateway,
  },
  {
    name: 'runs replay',
    summary: 'replay an agent from its trace and check that it does the same',
    load: async () => (await import('./verbs/runs-replay.ts')).runsReplay,
  },
  {
    name: 'init',
    summary: 'create a project with a task, an agent, its test and an experiment file',
    load: async () => (await import('./verbs/init.ts')).init,
  },
  {
    name: 'completion',
    summary: 'print a shell completion script',
    load: async () => (await import('./verbs/completion.ts')).completion,
  },
  {
    name: 'doctor',
    summary: 'check this machine and print how to fix what is missing',
    load: async () => (await import('./verbs/doctor.ts')).doctor,
  },
];
