/** A word or number that a table's cell may hold. */
const number = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?%?$/;
/** Rows that say how much the others vary. */
const ofSpread = /^(?:std|sd|stdev|spread|±|\+-|min|max)\b/i;

/** The first column of a table of ranking metrics: the length of the lists in its rows. */
const cutOff = /^(?:@?k|top[- ]?[kn]?|cut-?off)$/i;

/** The beginning of a row with a mean over the classes, of which others have a row each. */
const meanOverClasses = /^(?:macro|micro|weighted)\b/i;
const means = ['', 'macro', 'micro', 'weighted'];

/**
 * Rewrites the rows of printed tables as lines that name their values: below a line of names such as
 * `fold  rmse  r2`, the row `mean  0.31  0.8` becomes `mean rmse: 0.31`.
 */
export class TableRows {
  readonly #isMetric: (cell: string) => boolean;
  readonly #lengthOfLists: number | null;
  #head: readonly string[] = [];
  /** After an empty line, only means over classes still belong to the table. */
  #isOver = false;

  /**
   * @param isMetric whether the name of a column is the metric's
   * @param lengthOfLists of a ranking metric: 10 for NDCG@10; null for others
   */
  constructor(isMetric: (cell: string) => boolean, lengthOfLists: number | null) {
    this.#isMetric = isMetric;
    this.#lengthOfLists = lengthOfLists;
  }

  /** The values of the metric's columns in a row, with their names; null for lines that are not rows of a table. */
  rowAsLine(printed: string): string | null {
    if (printed.trim() === '') {
      this.#isOver = true;
      return null;
    }
    const line = /\s/.test(printed.trim()) ? printed : printed.replaceAll(',', ' | ');
    const words = line.replace(/^[\s|]+|[\s|]+$/g, '').split(/[\s|]+/);
    const values = words.slice(words.findLastIndex((word) => !number.test(word)) + 1);
    if (values.length === 0) {
      this.#readHead(line);
      return null;
    }
    const label = words.slice(0, words.length - values.length).join(' ');
    const [mean = ''] = meanOverClasses.exec(label) ?? [];
    if (this.#isOver && mean === '') return null;
    const columns = Math.min(values.length, this.#head.length);
    if (columns < 2 || this.#head.length - values.length > 1 || ofSpread.test(label)) return null;
    const first = this.#head.length > values.length ? (this.#head[0] ?? '') : '';
    const isOtherLength = cutOff.test(this.#head[0] ?? '') && Number(words[0]) !== this.#lengthOfLists;
    if (this.#lengthOfLists !== null && isOtherLength) return null;
    const told = this.#head.slice(-columns).flatMap((column, place) => {
      const name = `${mean} ${column}`.trim();
      const value = values.at(place - columns);
      return this.#isMetric(name) && value !== undefined ? [`${name}: ${value}`] : [];
    });
    return told.length === 0 ? null : [first, label, told.join(', ')].filter((each) => each !== '').join(' ');
  }

  /** Names are separated by bars or wide gaps, or are single words. */
  #readHead(line: string): void {
    const text = line.trim();
    if (/^[-=+|:\s]*$/.test(text)) return;
    this.#isOver = false;
    const cells = text.split(/\s{2,}|\s*[|\t]\s*/).filter((cell) => cell !== '');
    const names = cells.length > 1 ? cells : text.split(/\s+/);
    const hasMetric = names.some((name) => means.some((mean) => this.#isMetric(`${mean} ${name}`.trim())));
    this.#head = names.length > 1 && !/[:=]/.test(text) && hasMetric ? names : [];
  }
}
