import { z } from 'zod';
import { Any, List, readAs } from './reading.ts';

/** Why what a provider keeps is refused. */
export const storedReason =
  'what lies at the provider is neither metered nor recorded; send the whole conversation';

const Part = z.looseObject({ file_id: Any, file: Any, source: Any, content: Any, output: Any });
const Item = z.looseObject({ type: Any, role: Any, id: Any });

/** What a conversation names in place of its content; null: nothing. */
export function storedIn(conversation: unknown): 'file_id' | 'item_reference' | null {
  const items = readAs(List, conversation) ?? [];
  if (items.some(isReference)) return 'item_reference';
  return namesFile(items) ? 'file_id' : null;
}

/** Without a type, an item that is no message is a reference. */
function isReference(item: unknown): boolean {
  const { type, role, id } = readAs(Item, item) ?? {};
  return type === 'item_reference' || (type == null && role == null && id != null);
}

function namesFile(content: unknown): boolean {
  if (Array.isArray(content)) return content.some(namesFile);
  const part = readAs(Part, content);
  if (part === null) return false;
  return part.file_id != null || [part.file, part.source, part.content, part.output].some(namesFile);
}
