import { type Document, isMap, isNode, isScalar, isSeq, type LineCounter } from 'yaml';

/** Line of a field in a YAML file, from 1: of its nearest parent where the field itself is missing. */
export function lineOfField(
  document: Document,
  lines: LineCounter,
  field: readonly PropertyKey[],
): number | null {
  let node: unknown = document.contents;
  let line = isNode(node) && node.range ? lines.linePos(node.range[0]).line : null;
  for (const key of field) {
    const place = childPlace(node, key);
    if (place === null) return line;
    line = lines.linePos(place.offset).line;
    node = place.value;
  }
  return line;
}

/** Where a key or list item begins in the text, and its value. */
function childPlace(parent: unknown, key: PropertyKey): { offset: number; value: unknown } | null {
  if (isMap(parent)) {
    const pair = parent.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
    return isScalar(pair?.key) && pair.key.range ? { offset: pair.key.range[0], value: pair.value } : null;
  }
  const item = isSeq(parent) ? parent.items[Number(key)] : undefined;
  return isNode(item) && item.range ? { offset: item.range[0], value: item } : null;
}
