const millisecondsOf: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/**
 * How long a provider asks to wait, in milliseconds: from the headers `retry-after-ms` and `retry-after` (seconds or a
 * date, RFC 9110 section 10.2.3), else from Google's RetryInfo or the text of the error ("try again in 1m2.5s").
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string>>,
  body: string,
  now: number,
): number | null {
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(milliseconds)) return Math.max(0, milliseconds);
  const asked = fromHeader(headers['retry-after'], now) ?? fromBody(body);
  return Number.isFinite(asked) ? asked : null;
}

function fromHeader(value: string | undefined, now: number): number | null {
  if (value === undefined || value.trim() === '') return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

function fromBody(body: string): number | null {
  const retryInfo = /"retryDelay"\s*:\s*"([\d.]+)s"/.exec(body)?.[1];
  if (retryInfo !== undefined) return Number(retryInfo) * 1000;
  const words = /\b(?:retry|try again) (?:in|after)\s+((?:\d+(?:\.\d+)?\s*(?:ms|h|m|s)[a-z]*\s*)+)/i.exec(
    body,
  )?.[1];
  return words === undefined ? null : duration(words);
}

/** `1m12.5s`, `20ms`, `34.07 seconds`. */
function duration(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|h|m|s)/gi)];
  const total = parts.reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (millisecondsOf[unit?.toLowerCase() ?? ''] ?? 0),
    0,
  );
  return Math.round(total);
}
