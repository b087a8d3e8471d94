import { type Contract, hasModels } from './contract.ts';
import { pythonScript, type Setting } from './python-file.ts';

/**
 * The entry script that fulfils a contract, with one quick model or with all suitable ones. `metricName`: the task's
 * spelling.
 */
export function modelScript(
  contract: Contract,
  size: 'quick' | 'full',
  seconds: number,
  metricName: string,
): string {
  const shared = {
    ...answerSettings(contract),
    BOUNDS: contract.bounds,
    MANY_CLASSES: contract.classifies && contract.classes > 2,
    // Another measure must not be taken for the task's.
    METRIC_NAME: contract.isMeasured ? metricName : `${contract.metric} instead`,
    MEMBERS: membersFor(contract, size),
    SECONDS: Math.max(5, Math.round(seconds)),
  };
  const { parts, settings, reads, learns } = partsFor(contract);
  const models = hasModels(contract.packages) ? 'models' : 'plain_models';
  const core = [
    'settings',
    'data',
    'scores',
    'submission',
    ...(learns === 'network' ? [] : [models, 'blend']),
  ];
  return pythonScript([...core, ...parts], { ...shared, ...settings }, reads);
}

/** What is to be predicted, where it is written, and how it is scored: settings of `python/automl/settings.py`. */
export function answerSettings(contract: Contract): Record<string, Setting> {
  return {
    TEST: contract.test,
    SUBMISSION: contract.submission,
    ID: contract.id,
    TARGETS: contract.targets,
    COLUMNS: contract.columns,
    CLASS_COLUMNS: contract.classColumns,
    WRITES_PROBABILITY: contract.writesProbability,
    ROUNDS_TO_WHOLE: contract.roundsToWhole,
    CLASSIFIES: contract.classifies,
    METRIC: contract.metric,
    UNIT: contract.inPercent ? 100 : 1,
  };
}

/** A description for people: the models of a blend, or a network. */
export function describeModel(contract: Contract, size: 'quick' | 'full'): string {
  return usesNetwork(contract) ? 'a convolutional network' : membersFor(contract, size).join(', ');
}

interface Parts {
  parts: string[];
  settings: Record<string, Setting>;
  /** The last statements of the script. */
  reads: string;
  learns: 'members' | 'network';
}

function partsFor(contract: Contract): Parts {
  const { source, packages } = contract;
  if (source.kind === 'table') {
    const { text, letters, number, name } = source.columns;
    // Only reading chemical notations distinguishes them from other words.
    const knowsMolecules = letters > 0 && packages.includes('rdkit');
    const readsWords = hasModels(packages);
    const kinds = [
      ...(name + letters + number > 0 || source.joined.length > 0 ? ['dates'] : []),
      ...(knowsMolecules ? ['molecules'] : []),
      ...(letters > 0 && readsWords ? ['letters'] : []),
      ...(text > 0 && readsWords ? ['texts'] : []),
    ];
    const makers = kinds.map((kind) => `add_${kind}`).join(', ');
    const { joined } = source;
    const joins = joined.length > 0;
    const reads = `learn(read_data([${makers}]${joins ? ', join_tables' : ''}))`;
    return {
      parts: [...kinds, 'formats', 'table', ...(joins ? ['joins'] : [])],
      settings: { TRAIN: source.train, ANSWERS: source.answers, ...(joins ? { JOINED: joined } : {}) },
      reads,
      learns: 'members',
    };
  }
  const network = usesNetwork(contract);
  const learns = network ? 'network' : 'members';
  const epochs = { MOST_PASSES: contract.epochs ?? 30 };
  const learnRows = network
    ? '\n    learn_pictures(data, as_pictures(rows))'
    : '\n    learn(as_numbers(data, rows))';
  if (source.kind === 'arrays') {
    const places = {
      TRAIN_ARRAY: source.train,
      TEST_ARRAY: source.test,
      LABELS: source.labels,
      BY_PLACE: source.byPlace,
    };
    const parts = network ? ['arrays', 'pictures'] : ['arrays'];
    const settings = network ? { ...places, ...epochs } : places;
    return { parts, settings, reads: `data, rows = read_arrays()${learnRows}`, learns };
  }
  const settings = {
    TRAIN_TABLE: source.table,
    TRAIN_FOLDER: source.trainFolder,
    TRAIN_COLUMN: source.trainColumn,
    TEST_FOLDER: source.testFolder,
    TEST_COLUMN: source.testColumn,
    SUFFIX: source.suffix,
    ENDING: source.ending,
    ...(network ? epochs : {}),
  };
  if (!source.arePictures) {
    const reads = 'data, cells = read_texts()\n    add_texts("text", cells, data)\n    learn(data)';
    return { parts: ['texts', 'arrays', 'files'], settings, reads, learns };
  }
  const parts = ['arrays', 'files', ...(network ? ['pictures'] : [])];
  return { parts, settings, reads: `data, rows = read_pictures()${learnRows}`, learns };
}

function usesNetwork({ source, packages }: Contract): boolean {
  return source.kind !== 'table' && source.arePictures && packages.includes('torch');
}

/** Models to blend, quick and promising ones first: those that do not fit into the time are left out. */
function membersFor(contract: Contract, size: 'quick' | 'full'): string[] {
  const { classifies, rows, source } = contract;
  const wide = isWide(contract);
  const words = source.kind === 'table' ? source.columns.text + source.columns.letters : Number(!wide);
  const hasOnlyTexts =
    source.kind === 'table' ? source.columns.text > 0 && words === total(source.columns) : !wide;
  // If a model may see the rows only a limited number of times, models that learn in many passes are left out.
  const passes = contract.epochs === null;
  if (!hasModels(contract.packages)) return size === 'quick' ? ['boosting'] : ['boosting', 'linear'];
  const quick = hasOnlyTexts && passes ? 'linear' : wide ? 'forest' : 'boosting';
  if (size === 'quick') return [quick];
  const few = words === 0 && !wide;
  const all: [string, boolean][] = [
    ['boosting', !wide || rows * contract.classes < 20_000],
    ['linear', !classifies || passes],
    ['kernel', rows <= (classifies ? 10_000 : 6_000)],
    ['ratios', words > 0 && classifies && contract.classes === 2 && passes],
    ['forest', rows <= 100_000],
    ['powers', few && !classifies],
    ['polynomial', few && !classifies],
    ['process', few && !classifies && rows <= 1_000],
    ['network', words === 0 && rows >= 300 && rows <= 50_000 && passes],
    ['neighbours', words === 0 && rows <= 30_000],
    ['deep_boosting', !wide && rows <= 20_000],
  ];
  const suited = all.filter(([, suits]) => suits).map(([name]) => name);
  return [quick, ...suited.filter((name) => name !== quick)];
}

/** Whether a row is hundreds of numbers. */
function isWide({ source }: Contract): boolean {
  if (source.kind === 'table') return source.columns.number > 300;
  if (source.kind === 'files') return source.arePictures;
  return source.shape.reduce((product, size) => product * size, 1) > 300;
}

function total(columns: Record<string, number>): number {
  return Object.values(columns).reduce((sum, count) => sum + count, 0);
}
