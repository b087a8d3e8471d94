/**
 * The boundaries of modules: which may import which, beside `schema` and `lib`, which everyone may.
 * docs/architecture.md shows the same table; a test holds the two together.
 */
export const allowed = {
  statistics: [],
  tasks: [],
  sandbox: [],
  store: [],
  models: [],
  environment: ['sandbox', 'store', 'models'],
  services: ['tasks', 'sandbox', 'models'],
  grading: ['tasks', 'sandbox', 'store', 'models', 'services'],
  agents: ['environment'],
  runs: [
    ...['tasks', 'sandbox', 'store', 'models', 'environment', 'services', 'grading', 'agents', 'statistics'],
  ],
  evaluation: ['store', 'statistics'],
  experience: ['tasks', 'statistics'],
  exchange: ['tasks', 'store', 'statistics', 'evaluation'],
  server: ['tasks', 'store', 'statistics', 'evaluation'],
  cli: [
    ...['tasks', 'sandbox', 'store', 'models', 'environment', 'grading', 'agents', 'runs', 'statistics'],
    ...['evaluation', 'experience', 'exchange', 'server'],
  ],
  api: ['tasks', 'store', 'models', 'environment', 'agents', 'evaluation', 'statistics', 'cli'],
};
const modules = Object.keys(allowed);
const everyone = 'schema|lib';
const tests = '\\.test\\.ts$';

const imports = modules.map((module) => ({
  name: `${module}-imports`,
  comment: `${module} may import ${[...allowed[module], 'schema', 'lib'].join(', ')}; see docs/architecture.md`,
  severity: 'error',
  from: { path: `^src/${module}/`, pathNot: tests },
  to: { path: '^src/', pathNot: `^src/(${[module, ...allowed[module], everyone].join('|')})/` },
}));

/** `bin/` starts the command line; programs import a store without all that runs need. */
const furtherEntries = { cli: '(index|main)', api: '(index|store|task|testing)' };

/** Unit tests lie inside their module and see all of it; everybody else, test/, bench/ and viewer/ too, enters by its index. */
const entries = [...modules, 'schema'].map((module) => ({
  name: `${module}-index`,
  comment: `${module} is entered by its index.ts`,
  severity: 'error',
  // The fuzzer feeds parsers that no index exports.
  from: { path: '^(src|bench|test|viewer)/', pathNot: `^(src/${module}|test/fuzz/targets)/` },
  to: {
    path: `^src/${module}/`,
    pathNot: `^src/${module}/${furtherEntries[module] ?? 'index'}\\.ts$`,
  },
}));

const heavyLibraries = [
  { name: 'zip-and-tar-live-in-tasks', libraries: 'yauzl|tar-stream', home: 'tasks/' },
  {
    name: 'command-line-libraries-live-in-cli',
    libraries: 'commander|log-update|string-width',
    home: 'cli/',
  },
  { name: 'diff-lives-in-store', libraries: 'diff', home: 'store/' },
  { name: 'ai-sdk-lives-in-models', libraries: 'ai|@ai-sdk/[^/]+', home: 'models/' },
  { name: 'langchain-lives-in-its-agent', libraries: '@langchain/[^/]+', home: 'agents/langchain/' },
  { name: 'mcp-lives-in-its-agent', libraries: '@modelcontextprotocol/[^/]+', home: 'agents/mcp/' },
  { name: 'acp-lives-in-its-driver', libraries: '@agentclientprotocol/[^/]+', home: 'runs/outside/acp/' },
  { name: 'redis-lives-in-its-executor', libraries: 'bullmq|ioredis', home: 'runs/executors/redis/' },
  {
    name: 'kubernetes-lives-in-its-executor',
    libraries: '@kubernetes/[^/]+',
    home: 'runs/executors/kubernetes/',
  },
  { name: 's3-lives-in-artifacts', libraries: '@aws-sdk/[^/]+', home: 'runs/artifacts/' },
  { name: 'parquet-lives-in-exchange', libraries: 'hyparquet|hyparquet-writer', home: 'exchange/' },
  { name: 'python-parser-lives-in-automl', libraries: '@lezer/[^/]+', home: 'agents/automl/' },
].map(({ name, libraries, home }) => ({
  name,
  comment: 'one heavy library lives in one module',
  severity: 'error',
  from: { path: '^src/', pathNot: `^src/${home}|${tests}` },
  to: { path: `^node_modules/(@types/)?(${libraries})/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...imports,
    ...entries,
    ...heavyLibraries,
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'known-modules-only',
      comment: 'every folder of src is a module of docs/architecture.md, and what is in none imports nothing',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/(${[...modules, everyone].join('|')})/` },
      to: {},
    },
    {
      name: 'into-known-modules-only',
      comment: 'every folder of src is a module of docs/architecture.md',
      severity: 'error',
      from: {},
      to: { path: '^src/', pathNot: `^src/(${[...modules, everyone].join('|')})/` },
    },
    {
      name: 'schema-and-lib-know-nobody',
      severity: 'error',
      from: { path: '^src/(schema|lib)/', pathNot: tests },
      to: { path: '^src/', pathNot: '^src/(schema|lib)/' },
    },
    {
      name: 'schema-before-lib',
      severity: 'error',
      from: { path: '^src/schema/', pathNot: tests },
      to: { path: '^src/lib/' },
    },
    {
      name: 'statistics-is-pure',
      comment: 'scores in, numbers out: no Node built-ins',
      severity: 'error',
      from: { path: '^src/statistics/', pathNot: tests },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'agents-know-no-other-agent',
      severity: 'error',
      from: { path: '^src/agents/([^/]+)/' },
      to: { path: '^src/agents/[^/]+/', pathNot: '^src/agents/(?:$1|common|search)/' },
    },
    {
      name: 'sources-know-no-tests',
      comment: 'src is packed without test/, bench/ and scripts/, and of viewer/ only what is built',
      severity: 'error',
      from: { path: '^src/', pathNot: tests },
      to: { path: `^(test|bench|scripts|viewer)/|${tests}` },
    },
    {
      name: 'viewer-knows-schemas-alone',
      comment:
        'the pages run in a browser: of src they import the types and schemas of what the server tells them',
      severity: 'error',
      from: { path: '^viewer/' },
      to: { path: '^(src|test|bench|scripts)/', pathNot: '^src/schema/' },
    },
    {
      name: 'viewer-is-no-node',
      severity: 'error',
      from: { path: '^viewer/src/', pathNot: tests },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'packaged-libraries-only',
      comment:
        'what src imports is installed with the package: a dependency, not a devDependency or a chance find',
      severity: 'error',
      from: { path: '^src/', pathNot: tests },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        // Those of Redis, S3, Kubernetes and LangChain are installed by who uses them: decisions 0034, 0044, 0037 and 0041.
        pathNot:
          '^node_modules/(@types|@aws-sdk/client-s3|bullmq|ioredis|@kubernetes/client-node|@langchain)/',
      },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // Type-only imports count: a type is knowledge of another module too.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
    },
  },
};
