// Builds the page's template: one index.html with all scripts and styles inlined, and the place where the program puts documents.
import { defineConfig, type Plugin } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';
import { documentsElement } from './scripts/pack.mjs';

/** `vite dev` has no program behind it: documents come from the files or folders in PERFLAB_DOCUMENTS (separated by ':'). */
function documentsFromFiles(): Plugin {
  return {
    name: 'perflab-documents',
    apply: 'serve',
    transformIndexHtml(html) {
      const paths = (process.env.PERFLAB_DOCUMENTS ?? '').split(':').filter(Boolean);
      const place = '<!--' + 'DOCUMENTS-->';
      return html.replace(place, () => documentsElement(paths));
    },
  };
}

export default defineConfig({
  base: './',
  plugins: [documentsFromFiles(), viteSingleFile({ removeViteModuleLoader: true })],
  build: {
    target: 'es2022',
    outDir: process.env.PERFLAB_WEB_OUT ?? 'dist',
    emptyOutDir: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2048,
  },
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
} as Parameters<typeof defineConfig>[0]);
