/** A small folder as the build of the web interface leaves it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { disposeAtEnd } from './database.ts';

/** The script of the document, by its path in the folder. */
export const scriptFile = 'assets/index-AbCd1234.js';
export const scriptText = `console.log('${'started '.repeat(400)}');\n`;

const document = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><base href="/"><meta name="csp-nonce" content="">
<title>Envarium</title><script type="module" src="./${scriptFile}"></script></head>
<body><div id="root"></div></body></html>
`;

/** Makes one below the folder for temporary files; it is removed at the end of the tests. @returns its path */
export function makeWebFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'envarium-web-'));
  disposeAtEnd({
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
  });
  mkdirSync(join(folder, 'assets'));
  const files: Readonly<Record<string, string | Buffer>> = {
    'index.html': document,
    'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'manifest.webmanifest': '{"name":"Envarium"}',
    'LICENSES.txt': 'react',
    [scriptFile]: scriptText,
    [`${scriptFile}.br`]: brotliCompressSync(scriptText),
    [`${scriptFile}.gz`]: gzipSync(scriptText),
    'assets/mono-AbCd1234.woff2': Buffer.from('wOF2'),
  };
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content);
  return folder;
}
