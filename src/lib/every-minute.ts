/** Calls a function after each minute, for long work that says nothing by itself, until it is disposed of. */
export function everyMinute(remind: (minutes: number) => void): Disposable {
  let minutes = 0;
  const timer = setInterval(() => remind(++minutes), 60_000);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
