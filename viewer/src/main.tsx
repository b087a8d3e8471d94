import './without-eval.ts';
import './style/index.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { openSource } from './data/open-source.ts';
import { ErrorMessage, Loading } from './parts/states.tsx';
import { applyTheme, storedTheme } from './parts/theme.ts';

applyTheme(storedTheme());
const place = document.getElementById('root');
if (place !== null) {
  const root = createRoot(place);
  root.render(<Loading what="the experiments" />);
  openSource(document, new AbortController().signal).then(
    (source) =>
      root.render(
        <StrictMode>
          <App source={source} />
        </StrictMode>,
      ),
    (error: unknown) =>
      root.render(<ErrorMessage error={error} what="the experiments" again={() => location.reload()} />),
  );
}
