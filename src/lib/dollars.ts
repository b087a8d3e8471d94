/** An amount of US dollars; two digits of one so small that four decimals would show nothing of it. */
export function dollars(amount: number): string {
  if (amount === 0) return '$0';
  if (amount < 0.001) return `$${Number(amount.toPrecision(2))}`;
  return `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
}
