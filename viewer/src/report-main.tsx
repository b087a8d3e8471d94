import './without-eval.ts';
import './style/index.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { HashRouter } from 'react-router';
import { ReportFile } from '../../src/schema/index.ts';
import { ReportFilePage } from './pages/report-file.tsx';
import { ErrorMessage } from './parts/states.tsx';
import { applyTheme, storedTheme } from './parts/theme.ts';

applyTheme(storedTheme());
const place = document.getElementById('root');
if (place !== null) {
  const root = createRoot(place);
  try {
    const file = ReportFile.parse(JSON.parse(document.getElementById('mlab-data')?.textContent ?? 'null'));
    root.render(
      <StrictMode>
        <HashRouter>
          <ReportFilePage file={file} />
        </HashRouter>
      </StrictMode>,
    );
  } catch (error) {
    root.render(<ErrorMessage error={error} what="the report in this file" />);
  }
}
