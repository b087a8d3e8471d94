import { useSearchParams } from 'react-router';

/** Sets parameters of the address in place, so that choices survive a reload and can be shared. */
export function useAddressChange(): (changes: Readonly<Record<string, string>>) => void {
  const [, setParams] = useSearchParams();
  return (changes) => {
    // Changes may come faster than pages are drawn: only the address itself is up to date.
    const [, before] = location.hash.split('?');
    setParams(withParameters(new URLSearchParams(before), changes), {
      replace: true,
      preventScrollReset: true,
    });
  };
}

/** The default is left out of the address. */
export function useAddressText(key: string, usual: string): [string, (value: string) => void] {
  const [params] = useSearchParams();
  const change = useAddressChange();
  return [params.get(key) ?? usual, (value) => change({ [key]: value === usual ? '' : value })];
}

/** One of a few values; anything else in the address counts as the default. */
export function useAddressChoice<Name extends string>(
  key: string,
  choices: Readonly<Record<Name, unknown>>,
  usual: NoInfer<Name>,
): [Name, (value: Name) => void] {
  const [text, choose] = useAddressText(key, usual);
  const isKnown = (name: string): name is Name => Object.hasOwn(choices, name);
  return [isKnown(text) ? text : usual, choose];
}

/**
 * The same parameters with these set; empty ones are removed. `show` scrolls to the list of runs once, after a link in
 * a plot.
 */
export function withParameters(
  before: URLSearchParams,
  changes: Readonly<Record<string, string>>,
): URLSearchParams {
  const next = new URLSearchParams(before);
  next.delete('show');
  for (const [key, value] of Object.entries(changes)) {
    if (value === '') next.delete(key);
    else next.set(key, value);
  }
  return next;
}
