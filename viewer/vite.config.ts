import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/**
 * Two builds of the same pages: `dist/` for a web server, in hashed files that a strict content security policy
 * allows; and, with `--mode report`, `dist/report.html`, one file that opens without a server. Data goes where its comment stands.
 */
export default defineConfig(({ mode }) => {
  const single = mode === 'report';
  return {
    root: inside('.'),
    base: './',
    plugins: [react(), ...(single ? [oneFile()] : [])],
    build: {
      outDir: 'dist',
      emptyOutDir: !single,
      target: 'es2023',
      assetsInlineLimit: single ? 100_000_000 : 0,
      modulePreload: { polyfill: false },
      cssCodeSplit: false,
      reportCompressedSize: false,
      ...(single
        ? { rolldownOptions: { input: inside('src/report-main.tsx'), output: { codeSplitting: false } } }
        : {}),
    },
  };
});

function inside(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

/** Puts script and style into the page itself, and says by their hashes that nothing else may run. */
function oneFile(): Plugin {
  return {
    name: 'one-file',
    enforce: 'post',
    generateBundle(_options, bundle) {
      let script = '';
      let style = '';
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === 'chunk') script += part.code;
        else if (name.endsWith('.css')) style += String(part.source);
        delete bundle[name];
      }
      // Nothing in the script may look like its own end.
      const safe = script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
      this.emitFile({ type: 'asset', fileName: 'report.html', source: page(safe, style) });
    },
  };
}

function page(script: string, style: string): string {
  const hash = createHash('sha256').update(script).digest('base64');
  const policy = `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>mlagentbench report</title>
<style>${style}</style>
</head>
<body>
<div id="root"></div>
<!--mlab-data-->
<script type="module">${script}</script>
</body>
</html>
`;
}
