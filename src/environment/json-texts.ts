const texts = new WeakMap<object, string>();

/** A value as JSON, serialised once. The value must not change. */
export function jsonTextOf(value: object): string {
  const text = texts.get(value) ?? JSON.stringify(value);
  texts.set(value, text);
  return text;
}
