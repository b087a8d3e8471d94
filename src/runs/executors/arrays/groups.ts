/**
 * Items that become one array: those with the same needs, up to the scheduler's limit.
 * @param most the most jobs of an array
 * @param needs what an item asks of a node, in any form that JSON can hold
 */
export function groupsOf<Item>(
  items: readonly Item[],
  most: number,
  needs: (item: Item) => unknown,
): Item[][] {
  const alike = Map.groupBy(items, (item) => JSON.stringify(needs(item)));
  return [...alike.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / most) }, (_, at) =>
      group.slice(at * most, (at + 1) * most),
    ),
  );
}
