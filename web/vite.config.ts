/** Build of the web interface: one folder of static files, which the service serves below any base path. */

import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Target of calls from the interface that `npm run web` serves during development. */
const service = process.env.ENVARIUM_API_URL ?? 'http://127.0.0.1:3000';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Addresses of files are relative to <base>, which the service fills in.
  base: './',
  plugins: [react()],
  build: {
    target: 'es2022',
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { host: '127.0.0.1', proxy: { '/api/': service } },
});
