import type { SubmissionFile } from '../../../schema/index.ts';
import type { Answer, ArraySummary, DataSummary, Table } from './data-summary.ts';

export type CsvFile = Extract<SubmissionFile, { format: 'csv' }>;
/** A file, and either the name in an archive of several arrays or an empty text. */
type ArrayName = [string, string];

/** The data to learn from, and how it is read. */
export type Source =
  | {
      kind: 'table';
      train: string;
      /** The table with the answers by id; empty if they are in `train`. */
      answers: string;
      columns: Table['kinds'];
      /** Other tables, which may have more columns about the same rows. */
      joined: string[];
    }
  | {
      kind: 'arrays';
      train: ArrayName;
      test: ArrayName;
      /** An array, or a table in the same order. */
      labels: ArrayName;
      /** An id is the index of its row; otherwise the rows to predict are in the order of the ids. */
      byPlace: boolean;
      /** The shape of one row. */
      shape: number[];
      arePictures: boolean;
    }
  | {
      kind: 'files';
      /** The table that lists the files to learn from; empty if each class has its own folder. */
      table: string;
      trainFolder: string;
      trainColumn: string;
      testFolder: string;
      testColumn: string;
      suffix: string;
      ending: string;
      arePictures: boolean;
    };

/** A data source that includes the answers. */
export interface Found {
  source: Source;
  rows: number;
  answers: Answer[];
  /** The submission has a column for each value of the only target. */
  byClass: boolean;
}

/** The largest data source, among tables first, then arrays and files; null if there is none. */
export function findSource(file: CsvFile, summary: DataSummary, test: Table): Found | null {
  return (
    findTable(file, summary, test) ??
    findFiles(file, summary, test) ??
    findArrays(file, summary, test) ??
    null
  );
}

/** The targets that a table contains, as columns of the same names or as classes named like the columns. */
function answersIn(file: CsvFile, columns: Answer[]): { answers: Answer[]; byClass: boolean } | null {
  const wanted = file.columns.map(({ name }) => name);
  const answers = columns.filter(({ name }) => wanted.includes(name));
  if (answers.length === wanted.length) return { answers, byClass: false };
  const [classes, ...others] = columns.filter((column) => areClasses(wanted, column.values));
  return classes !== undefined && others.length === 0 ? { answers: [classes], byClass: true } : null;
}

/**
 * The columns that the rows to predict lack, whatever they are called in the submission: the only one, or as many as are
 * asked for, each of which shares a word with one of those, as `minutes` does with `minutes_expected`.
 */
function renamedAnswersIn(file: CsvFile, columns: Answer[]): { answers: Answer[]; byClass: boolean } | null {
  if (file.columns.length !== columns.length) return null;
  if (columns.length === 1) return { answers: columns, byClass: false };
  const wordsOf = (name: string) => name.toLowerCase().split(/[^a-z0-9]+/);
  const answers = file.columns.flatMap(({ name }) => {
    const words = wordsOf(name);
    const alike = columns.filter((column) => wordsOf(column.name).some((word) => words.includes(word)));
    return alike.length === 1 ? alike : [];
  });
  return new Set(answers).size === columns.length ? { answers, byClass: false } : null;
}

function areClasses(wanted: readonly string[], values: readonly string[]): boolean {
  return classesOf(wanted, values) !== null;
}

/**
 * The class that each column is about: `streets` for `p_streets`, if all columns have the same words around the class.
 * Null if the columns are not one for each class.
 */
export function classesOf(columns: readonly string[], values: readonly string[]): string[] | null {
  const [first = ''] = columns;
  if (columns.length < 2 || values.length !== columns.length) return null;
  for (const value of values.filter((each) => first.includes(each))) {
    const at = first.indexOf(value);
    const [before, after] = [first.slice(0, at), first.slice(at + value.length)];
    const classes = columns.map((name) => name.slice(before.length, name.length - after.length));
    const isWhole = (name: string, place: number) => before + classes[place] + after === name;
    if (columns.every(isWhole) && values.every((each) => classes.includes(each))) return classes;
  }
  return null;
}

function findTable(file: CsvFile, summary: DataSummary, test: Table): Found | undefined {
  const tables = summary.tables
    .filter(
      ({ path, shared, kinds }) => path !== test.path && shared > 0 && !hasOnlyNamesOfFiles(kinds, test),
    )
    .sort((left, right) => right.rows - left.rows);
  for (const find of [answersIn, renamedAnswersIn]) {
    for (const { path, rows, kinds, more } of tables) {
      const found = find(file, more);
      if (found === null) continue;
      const joined = joinable(file, summary, [path, test.path]);
      return { source: { kind: 'table', train: path, answers: '', columns: kinds, joined }, rows, ...found };
    }
  }
  // The answers may be in a separate table.
  for (const { path, rows, kinds, has_id } of tables) {
    for (const other of summary.tables) {
      if (!has_id || !other.has_id || other === test || other.path === path || other.shared > 0) continue;
      const found = answersIn(file, other.more);
      if (found === null) continue;
      const joined = joinable(file, summary, [path, test.path, other.path]);
      const source = { kind: 'table' as const, train: path, answers: other.path, columns: kinds, joined };
      return { source, rows, ...found };
    }
  }
  return undefined;
}

/** Reading larger tables would take most of the time. */
const maxRowsJoined = 500_000;

/** Tables that share columns, or ids, with the rows to predict, and have other columns besides. */
function joinable(file: CsvFile, summary: DataSummary, known: readonly string[]): string[] {
  const wanted = file.columns.map(({ name }) => name);
  return summary.tables
    .filter(({ path, rows }) => !known.includes(path) && rows <= maxRowsJoined)
    .filter(
      ({ shared, has_id, more }) => (shared > 0 || has_id) && more.some(({ name }) => !wanted.includes(name)),
    )
    .map(({ path }) => path);
}

/** The path of a file has no information by itself. */
function hasOnlyNamesOfFiles({ text, number }: Table['kinds'], test: Table): boolean {
  return test.files.length > 0 && text === 0 && number === 0;
}

const pictureEndings = ['.png', '.jpg', '.jpeg', '.bmp', '.gif'];

function findFiles(file: CsvFile, summary: DataSummary, test: Table): Found | undefined {
  const [asked] = test.files;
  if (asked === undefined) return undefined;
  const arePictures = pictureEndings.includes(asked.ending);
  const shared = {
    testFolder: asked.folder,
    testColumn: asked.column,
    suffix: asked.suffix,
    ending: asked.ending,
  };
  for (const table of summary.tables) {
    const named = table.files.find(
      ({ ending, suffix }) => ending === asked.ending && suffix === asked.suffix,
    );
    const found = table.path === test.path || named === undefined ? null : answersIn(file, table.more);
    if (named === undefined || found === null) continue;
    const place = { table: table.path, trainFolder: named.folder, trainColumn: named.column };
    return { source: { kind: 'files', ...place, ...shared, arePictures }, rows: table.rows, ...found };
  }
  const wanted = file.columns.map(({ name }) => name);
  const folder = summary.folders
    .filter(({ ending, path }) => ending === asked.ending && path !== asked.folder)
    .sort((left, right) => right.files - left.files)[0];
  if (folder === undefined) return undefined;
  const { classes, files } = folder;
  const byClass = areClasses(wanted, classes);
  if (!byClass && wanted.length > 1) return undefined;
  const [name = ''] = wanted;
  const answer = {
    name,
    known: files,
    distinct: classes.length,
    numeric: false,
    values: [...classes].sort(),
  };
  const place = { table: '', trainFolder: folder.path, trainColumn: '' };
  return {
    source: { kind: 'files', ...place, ...shared, arePictures },
    rows: files,
    answers: [answer],
    byClass,
  };
}

/** Two arrays whose rows have the same shape, labels for the rows of one, and ids for those of the other. */
function findArrays(file: CsvFile, summary: DataSummary, test: Table): Found | undefined {
  const pairs = summary.arrays.flatMap((train) =>
    summary.arrays.filter((other) => isPair(train, other, test)).map((other) => ({ train, other })),
  );
  // Names are only hints: an array called train is preferred for learning, then the one with more rows.
  const worth = ({ train, other }: (typeof pairs)[number]) =>
    Number(/train/i.test(train.path + train.key)) +
    Number(/test/i.test(other.path + other.key)) -
    Number(/test/i.test(train.path + train.key)) +
    Number(rowsOf(train) > rowsOf(other)) / 2;
  for (const { train, other } of pairs.sort((left, right) => worth(right) - worth(left))) {
    const labels = findLabels(file, summary, train, test);
    if (labels === undefined) continue;
    const shape = train.shape.slice(1);
    const isPlace = test.highest_id !== null && test.highest_id < rowsOf(other);
    const source = {
      kind: 'arrays' as const,
      train: nameOf(train),
      test: nameOf(other),
      labels: labels.place,
      byPlace: isPlace,
      shape,
      arePictures: isPictureShape(shape),
    };
    return { source, rows: rowsOf(train), answers: labels.answers, byClass: labels.byClass };
  }
  return undefined;
}

const rowsOf = ({ shape }: ArraySummary) => shape[0] ?? 0;
const nameOf = ({ path, key }: ArraySummary): ArrayName => [path, key];

function isPair(train: ArraySummary, other: ArraySummary, test: Table): boolean {
  return (
    train !== other &&
    train.shape.length >= 2 &&
    train.kind !== 'U' &&
    train.kind === other.kind &&
    train.shape.length === other.shape.length &&
    train.shape.slice(1).every((size, place) => size === other.shape[place + 1]) &&
    (rowsOf(other) === test.rows || (test.highest_id !== null && test.highest_id < rowsOf(other)))
  );
}

interface Labels {
  place: ArrayName;
  answers: Answer[];
  byClass: boolean;
}

function findLabels(
  file: CsvFile,
  summary: DataSummary,
  train: ArraySummary,
  test: Table,
): Labels | undefined {
  const rows = rowsOf(train);
  for (const table of summary.tables) {
    const found = table.path === test.path || table.rows !== rows ? null : answersIn(file, table.more);
    // Its columns are found by the names of the targets.
    if (found !== null) return { place: [table.path, ''], ...found };
  }
  const wanted = file.columns.map(({ name }) => name);
  const candidates = summary.arrays
    .filter((array) => array !== train && rowsOf(array) === rows && array.shape.length <= 2)
    .filter(({ shape }) => shape.length === 1 || shape[1] !== train.shape[1])
    .sort((left, right) => Number(isLabelName(right)) - Number(isLabelName(left)));
  for (const array of candidates) {
    const width = array.shape[1] ?? 1;
    const byClass = width === 1 && areClasses(wanted, array.values);
    if (!byClass && width !== wanted.length) continue;
    const numeric = array.kind !== 'U' && array.kind !== 'b';
    const about = { known: rows, distinct: array.values.length, numeric, values: array.values };
    const answers = (byClass ? wanted.slice(0, 1) : wanted).map((name) => ({ name, ...about }));
    return { place: nameOf(array), answers, byClass };
  }
  return undefined;
}

const isLabelName = ({ path, key }: ArraySummary) =>
  /label|target|class|(?:^|[/_])y(?:[_.]|$)/i.test(`${path}/${key}`);

/** Height, width and up to four channels, which come first or last. */
function isPictureShape(shape: readonly number[]): boolean {
  const [first = 0, second = 0, third = 0] = shape;
  if (shape.length === 2) return first === second && first >= 6;
  if (shape.length !== 3) return false;
  return (third <= 4 && first >= 6 && second >= 6) || (first <= 4 && second >= 6 && third >= 6);
}
