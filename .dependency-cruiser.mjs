/** The walls of the house: docs/architecture.md shows the same table. */
const allowed = {
  statistics: [],
  tasks: [],
  sandbox: [],
  store: [],
  environment: ['sandbox', 'store'],
  grading: ['tasks', 'sandbox', 'store'],
  agents: ['environment'],
  runs: ['tasks', 'sandbox', 'store', 'environment', 'grading', 'agents'],
  cli: ['tasks', 'sandbox', 'store', 'environment', 'grading', 'agents', 'runs', 'statistics'],
};
const rooms = Object.keys(allowed);
const everyone = 'schema|lib';

const walls = rooms.map((room) => ({
  name: `${room}-walls`,
  comment: `${room} may import ${[...allowed[room], 'schema', 'lib'].join(', ')}; see docs/architecture.md`,
  severity: 'error',
  from: { path: `^src/${room}/`, pathNot: '\\.test\\.ts$' },
  to: { path: '^src/', pathNot: `^src/(${[room, ...allowed[room], everyone].join('|')})/` },
}));

const doors = rooms.map((room) => ({
  name: `${room}-door`,
  comment: `${room} is entered by its index.ts`,
  severity: 'error',
  from: { path: '^(src|bench|test)/', pathNot: `^src/${room}/|^test/` },
  to: { path: `^src/${room}/`, pathNot: `^src/${room}/(index|main)\\.ts$` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...walls,
    ...doors,
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'mapped-rooms-only',
      comment: 'every folder of src is a room on the map',
      severity: 'error',
      from: {},
      to: { path: '^src/', pathNot: `^src/(${[...rooms, everyone].join('|')})/` },
    },
    {
      name: 'schema-and-lib-know-nobody',
      severity: 'error',
      from: { path: '^src/(schema|lib)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/', pathNot: '^src/(schema|lib)/' },
    },
    {
      name: 'schema-before-lib',
      severity: 'error',
      from: { path: '^src/schema/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/lib/' },
    },
    {
      name: 'statistics-is-pure',
      severity: 'error',
      from: { path: '^src/statistics/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'agents-know-no-other-agent',
      severity: 'error',
      from: { path: '^src/agents/([^/]+)/' },
      to: { path: '^src/agents/[^/]+/', pathNot: '^src/agents/(?:$1|common)/' },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'zip-and-tar-live-in-tasks',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/tasks/' },
      to: { path: '^node_modules/(yauzl|tar-stream)/' },
    },
    {
      name: 'command-line-libraries-live-in-cli',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/cli/' },
      to: { path: '^node_modules/(commander|log-update|string-width)/' },
    },
    {
      name: 'python-parser-lives-in-automl',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/agents/automl/' },
      to: { path: '^node_modules/@lezer/' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
    },
  },
};
