import { useState } from 'react';
import { applyTheme, storedTheme, type Theme, themes } from './theme.ts';

const words: Record<Theme, string> = { auto: "the system's", light: 'light', dark: 'dark' };
const signs: Record<Theme, string> = { auto: '◐', light: '☀', dark: '☾' };

export function ThemeSwitch() {
  const [theme, setTheme] = useState(storedTheme);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'auto';
  return (
    <button
      type="button"
      className="quiet-button"
      aria-label={`Colours: ${words[theme]}. Change to ${words[next]}`}
      title={`Colours: ${words[theme]}`}
      onClick={() => {
        applyTheme(next);
        setTheme(next);
      }}
    >
      <span aria-hidden="true">{signs[theme]}</span>
    </button>
  );
}
