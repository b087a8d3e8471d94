import { missingDecimals } from '../format/numbers.ts';

/** A cell of a column with aligned decimal points. `decimals`: of the longest number in it. */
export function NumberCell({ shown, decimals }: { shown: string; decimals: number }) {
  return (
    <td className="number" data-missing={missingDecimals(shown, decimals) || undefined}>
      {shown}
    </td>
  );
}
