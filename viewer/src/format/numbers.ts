/** Numbers as people read them. The server computes everything; here it is only formatted. */

const fewer = new Intl.NumberFormat('en-GB', { maximumSignificantDigits: 3 });
const few = new Intl.NumberFormat('en-GB', { maximumSignificantDigits: 4 });
const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 });

export const nothing = '–';

/** One score of a run. */
export function showScore(value: number | null): string {
  if (value === null) return nothing;
  return (Math.abs(value) >= 10_000 ? whole : few).format(value).replace('-', '−');
}

/** A number in a table, with three significant digits. */
export function showFigure(value: number | null): string {
  if (value === null) return nothing;
  return (Math.abs(value) >= 1000 ? whole : fewer).format(value).replace('-', '−');
}

export function showCount(value: number | null): string {
  return value === null ? nothing : whole.format(value);
}

/** A fraction in per cent, with digits according to its size. */
export function showShare(value: number | null): string {
  if (value === null) return nothing;
  const percent = value * 100;
  const rounded = Number(percent.toFixed(1));
  const isWhole = rounded === 0 || Math.abs(rounded) >= 100 || Number.isInteger(percent);
  return `${rounded.toFixed(isWhole ? 0 : 1).replace('-', '−')} %`;
}

/** A change in per cent, with its sign. */
export function showChange(value: number | null): string {
  return value === null ? nothing : signed(showShare(value));
}

/** The difference of two fractions in percentage points, with its sign and without the unit. */
export function showPoints(value: number): string {
  return showChange(value).replace(/ %$/, '');
}

/** The difference of two scores, with its sign. */
export function showDifference(value: number): string {
  return signed(showFigure(value));
}

function signed(shown: string): string {
  return /^(−|0$|0 )/.test(shown) ? shown : `+${shown}`;
}

/** `34.2–100 %`; if a bound is negative `−0.3 to +1.7 %`. */
export function showInterval(
  interval: { low: number; high: number } | null,
  show: (value: number) => string,
): string {
  if (interval === null) return nothing;
  const [from, to] = [show(interval.low), show(interval.high)];
  const unit = / [^\d ]+$/.exec(to)?.[0] ?? '';
  const first = from.endsWith(unit) ? from.slice(0, from.length - unit.length) : from;
  return /^[+−]/.test(first) || /^[+−]/.test(to) ? `${first} to ${to}` : `${first}–${to}`;
}

/** The p of a test: three decimals, as in the sentences of comparisons. */
export function showP(p: number): string {
  return p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`;
}

/** Both values of a p where a correction for several comparisons changed it: pages may show one or the other. */
export function showTest({ p, p_corrected: adjusted }: { p: number; p_corrected: number }): string {
  return adjusted === p ? showP(p) : `${showP(adjusted)} adjusted (Holm), ${showP(p)} alone`;
}

/** Padding after a number, so that it has as many decimals as the longest of its column. */
export function missingDecimals(shown: string, most: number): string {
  if (shown === nothing) return '';
  const has = decimalsOf(shown);
  return has === most ? '' : `${has === 0 ? '.' : ''}${'0'.repeat(most - has)}`;
}

export function decimalsOf(shown: string): number {
  return /\.(\d+)/.exec(shown)?.[1]?.length ?? 0;
}

/** The mean of ratings from 1 to 5. */
export function showRating(mean: number | null): string {
  return mean === null ? nothing : mean.toFixed(1);
}

/** The counts behind a rate: `3 of 8`. */
export function showCounts({ successes, runs }: { successes: number; runs: number }): string {
  return `${showCount(successes)} of ${showCount(runs)}`;
}

export function showSeconds(seconds: number | null): string {
  if (seconds === null) return nothing;
  if (seconds === 0) return '0 s';
  if (seconds < 1) return `${whole.format(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const rounded = Math.round(seconds);
  return rounded < 3600
    ? inTwoUnits(rounded, 60, 'min', 's')
    : inTwoUnits(Math.floor(rounded / 60), 60, 'h', 'min');
}

/** `1 min 1 s`, or `2 min` without a remainder. */
function inTwoUnits(value: number, size: number, large: string, small: string): string {
  const rest = value % size;
  return `${Math.floor(value / size)} ${large}${rest === 0 ? '' : ` ${rest} ${small}`}`;
}

export function showMoney(dollars: number | null): string {
  if (dollars === null) return nothing;
  if (dollars === 0) return '$0';
  return dollars < 0.01 ? `$${dollars.toPrecision(2)}` : `$${dollars.toFixed(2)}`;
}

/** Tokens; `≈` if some of them are estimated. */
export function showTokens(tokens: number | null, estimated: number): string {
  return `${estimated > 0 ? '≈ ' : ''}${showAmount(tokens)}`;
}

/** The cost of model calls, as far as their prices are known. */
export function showSpent({ money, unpriced }: { money: number; unpriced: number }): string {
  if (unpriced === 0) return showMoney(money);
  return money === 0 ? 'price not known' : `at least ${showMoney(money)}`;
}

const units = ['', ' k', ' M', ' G'];

/** Tokens and the like: 1,234 is 1.23 k. */
export function showAmount(value: number | null): string {
  if (value === null) return nothing;
  const power = value < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(value) / 3));
  const scaled = value / 1000 ** power;
  return `${power === 0 ? whole.format(scaled) : scaled.toPrecision(3)}${units[power] ?? ''}`;
}

export function showBytes(bytes: number | null): string {
  return bytes === null ? nothing : bytes < 1000 ? `${bytes} B` : `${showAmount(bytes)}B`;
}

/** `small_improvement` → `small improvement`. Traces say `infrastructure_error` of an infrastructure failure. */
export function showWords(name: string): string {
  return name === 'infrastructure_error' ? 'infrastructure failure' : name.replaceAll('_', ' ');
}

export function showPlural(count: number, one: string, many = `${one}s`): string {
  return `${showCount(count)} ${count === 1 ? one : many}`;
}

/** The progress of something that is being made; empty until it is known. */
export function progressWords({ done, total }: { done: number; total: number }): string {
  return total === 0 ? '' : `: ${showCount(done)} of ${showPlural(total, 'run')} read`;
}
