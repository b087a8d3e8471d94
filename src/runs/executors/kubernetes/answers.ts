const itemsAtOnce = 500;
/** A list that expires this often is not read faster the next time. */
const mostTries = 5;

/** Whether it is an answer of the API with this status. */
export function isAnswer(error: unknown, status: number): boolean {
  return error instanceof Error && 'code' in error && error.code === status;
}

type List<Item> = (more: { limit: number; _continue?: string }) => Promise<{
  items: Item[];
  metadata?: { _continue?: string };
}>;

/** All pages of a list. The API forgets a list after some minutes: then it is read again from its start. */
export async function all<Item>(list: List<Item>): Promise<Item[]> {
  for (let tries = 1; ; tries += 1) {
    const items: Item[] = [];
    let next: string | undefined;
    try {
      do {
        const page = await list({ limit: itemsAtOnce, ...(next === undefined ? {} : { _continue: next }) });
        items.push(...page.items);
        next = page.metadata?._continue || undefined;
      } while (next !== undefined);
      return items;
    } catch (error) {
      if (next === undefined || !isAnswer(error, 410) || tries === mostTries) throw error;
    }
  }
}
