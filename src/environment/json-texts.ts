const texts = new WeakMap<object, string>();

/** A value as JSON, written once. Nobody may change the value. */
export function jsonTextOf(value: object): string {
  const text = texts.get(value) ?? JSON.stringify(value);
  texts.set(value, text);
  return text;
}
