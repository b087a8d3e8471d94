import { missingDecimals } from '../format/numbers.ts';

/** Of a column whose points stand below each other. `decimals`: of the longest in it. */
export function NumberCell({ shown, decimals }: { shown: string; decimals: number }) {
  return (
    <td className="number" data-missing={missingDecimals(shown, decimals) || undefined}>
      {shown}
    </td>
  );
}
