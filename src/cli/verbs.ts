import type { Verb } from './verb.ts';

/** Where a verb is found and how the list of verbs describes it; the verb itself is loaded only when called. */
export interface VerbEntry {
  name: string;
  summary: string;
  load: () => Promise<Verb>;
}

/** How `mlab --help` orders commands, by their first words. */
export const commandGroups = {
  'Run agents': ['run', 'agents', 'decide', 'mcp'],
  'See how they did': ['view', 'report', 'runs', 'grade', 'verify', 'judge'],
  Tasks: ['tasks', 'prepare'],
  'Language models': ['models', 'gateway'],
  Experience: ['experience'],
  'Many machines': ['worker', 'workers'],
  'Set up': ['init', 'doctor', 'completion'],
};

/** Verbs by name, alone or in a group such as `runs ls`. */
export const verbs: readonly VerbEntry[] = [
  {
    name: 'tasks ls',
    summary: 'list the tasks and suites',
    load: async () => (await import('./verbs/tasks-ls.ts')).tasksLs,
  },
  {
    name: 'tasks show',
    summary: 'show a task: its text, metric, baseline, reference',
    load: async () => (await import('./verbs/tasks-show.ts')).tasksShow,
  },
  {
    name: 'tasks check',
    summary: 'validate a task and run its validation agents: oracle, no-op, baseline, adversarial ones',
    load: async () => (await import('./verbs/tasks-check.ts')).tasksCheck,
  },
  {
    name: 'tasks new',
    summary: 'make a task from a table, with its figures measured',
    load: async () => (await import('./verbs/tasks-new.ts')).tasksNew,
  },
  {
    name: 'tasks baseline',
    summary: "measure the starter's (or the reference's) score over seeds",
    load: async () => (await import('./verbs/tasks-baseline.ts')).tasksBaseline,
  },
  {
    name: 'agents',
    summary: 'list the agents and their options',
    load: async () => (await import('./verbs/agents-ls.ts')).agentsLs,
  },
  {
    name: 'prepare',
    summary: 'get the data of tasks and their Python environments',
    load: async () => (await import('./verbs/prepare.ts')).prepare,
  },
  {
    name: 'run',
    summary: 'run agents on tasks; the same command again resumes',
    load: async () => (await import('./verbs/run.ts')).run,
  },
  {
    name: 'decide',
    summary: 'decide on what the agent of a run that waits wants to do',
    load: async () => (await import('./verbs/decide.ts')).decide,
  },
  {
    name: 'mcp',
    summary: 'serve a task to a client of the Model Context Protocol, whose calls are the steps of a run',
    load: async () => (await import('./verbs/mcp.ts')).mcp,
  },
  {
    name: 'worker',
    summary: 'execute one job of an experiment, given as a file: what schedulers start; or those of a Redis',
    load: async () => (await import('./verbs/worker.ts')).worker,
  },
  {
    name: 'workers',
    summary: 'list the workers of a Redis, and what each is at',
    load: async () => (await import('./verbs/workers.ts')).workers,
  },
  {
    name: 'grade',
    summary: 'grade the final submission of runs, or every step',
    load: async () => (await import('./verbs/grade.ts')).grade,
  },
  {
    name: 'verify',
    summary: 'run the final code of runs again, and see whether it leads to their scores',
    load: async () => (await import('./verbs/verify.ts')).verify,
  },
  {
    name: 'report',
    summary: 'results of experiments as a table',
    load: async () => (await import('./verbs/report.ts')).report,
  },
  {
    name: 'view',
    summary: 'look at experiments, runs and steps in the browser, also while they go on',
    load: async () => (await import('./verbs/view.ts')).view,
  },
  {
    name: 'judge',
    summary: 'let a language model rate how runs went',
    load: async () => (await import('./verbs/judge.ts')).judge,
  },
  {
    name: 'runs ls',
    summary: 'list experiments and their runs',
    load: async () => (await import('./verbs/runs-ls.ts')).runsLs,
  },
  {
    name: 'runs show',
    summary: 'show a run step by step, or one step whole',
    load: async () => (await import('./verbs/runs-show.ts')).runsShow,
  },
  {
    name: 'runs trace',
    summary: 'print what is recorded of runs, one event a line, for grep and other programs',
    load: async () => (await import('./verbs/runs-trace.ts')).runsTrace,
  },
  {
    name: 'runs calls',
    summary: 'list the calls of language models of a run, or show one whole',
    load: async () => (await import('./verbs/runs-calls.ts')).runsCalls,
  },
  {
    name: 'runs diff',
    summary: 'show what changed in the workspace between two steps',
    load: async () => (await import('./verbs/runs-diff.ts')).runsDiff,
  },
  {
    name: 'runs restore',
    summary: 'write the workspace of any step into a folder',
    load: async () => (await import('./verbs/runs-restore.ts')).runsRestore,
  },
  {
    name: 'runs check',
    summary: "verify a run's trace, hash chain and objects",
    load: async () => (await import('./verbs/runs-check.ts')).runsCheck,
  },
  {
    name: 'runs retry',
    summary: 'execute runs again that the machines failed at; earlier attempts are kept',
    load: async () => (await import('./verbs/runs-retry.ts')).runsRetry,
  },
  {
    name: 'runs rm',
    summary: 'remove experiments with all their runs',
    load: async () => (await import('./verbs/runs-rm.ts')).runsRm,
  },
  {
    name: 'runs import',
    summary: 'import runs of the original benchmark as an experiment',
    load: async () => (await import('./verbs/runs-import.ts')).runsImport,
  },
  {
    name: 'runs export',
    summary: 'write runs as tables (CSV, Parquet), JSON lines, a git repository or log folders of the original',
    load: async () => (await import('./verbs/runs-export.ts')).runsExport,
  },
  {
    name: 'experience add',
    summary: 'collect what finished runs tried, and what came of it',
    load: async () => (await import('./verbs/experience-add.ts')).experienceAdd,
  },
  {
    name: 'experience ls',
    summary: 'list the experience, or what of it a run on a task would be given',
    load: async () => (await import('./verbs/experience-ls.ts')).experienceLs,
  },
  {
    name: 'experience search',
    summary: 'find experience by words',
    load: async () => (await import('./verbs/experience-search.ts')).experienceSearch,
  },
  {
    name: 'models',
    summary: 'list the providers of language models and what they lack; ask one with --ping',
    load: async () => (await import('./verbs/models.ts')).models,
  },
  {
    name: 'gateway',
    summary: 'serve language models to any program on this machine, with limits, records and prices',
    load: async () => (await import('./verbs/gateway.ts')).gateway,
  },
  {
    name: 'runs replay',
    summary: 'run an agent again from its trace alone, and see that it does the same',
    load: async () => (await import('./verbs/runs-replay.ts')).runsReplay,
  },
  {
    name: 'init',
    summary: 'make a project with a task, an agent, its test and an experiment file',
    load: async () => (await import('./verbs/init.ts')).init,
  },
  {
    name: 'completion',
    summary: 'print what makes Tab complete mlab commands in a shell',
    load: async () => (await import('./verbs/completion.ts')).completion,
  },
  {
    name: 'doctor',
    summary: 'say what is there, what is missing, and what fixes it',
    load: async () => (await import('./verbs/doctor.ts')).doctor,
  },
];
