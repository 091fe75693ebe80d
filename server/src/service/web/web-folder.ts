/** The built web interface: a folder of files that do not change while the service runs. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerSettings } from '../../ground/config/config.ts';

export interface WebFolder {
  readonly path: string;
  /** The one document of all pages, with places for the base path and a nonce. */
  readonly document: string;
  /** All other files by their paths in the folder. */
  readonly files: ReadonlySet<string>;
}

/** Why there is no web interface, as one sentence. */
export interface MissingWeb {
  readonly problem: string;
}

/** Placeholders that the server replaces: each must occur once. */
const places = ['<base href="/"', '<meta name="csp-nonce" content=""'];

/** Reads which files there are. */
export function openWebFolder(
  settings: Pick<ServerSettings, 'webFolder' | 'webProblem'>,
): WebFolder | MissingWeb {
  const { webFolder: path, webProblem } = settings;
  if (path === undefined)
    return {
      problem:
        webProblem ??
        'This server was started without its launcher (npm start), which builds the web interface: use the launcher, or set ENVARIUM_WEB_DIR to the folder of a built one',
    };
  try {
    const document = readFileSync(join(path, 'index.html'), 'utf8');
    const missing = places.find((place) => document.split(place).length !== 2);
    if (missing !== undefined)
      return {
        problem: `index.html in ENVARIUM_WEB_DIR does not have ${missing} once: it is of another version`,
      };
    const entries = readdirSync(path, { withFileTypes: true, recursive: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1));
    return { path, document, files: new Set(files.filter((file) => file !== 'index.html')) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { problem: `The folder in ENVARIUM_WEB_DIR cannot be read: ${code ?? message}` };
  }
}

/** The document as one reply has it. @param basePath without a slash at its end */
export function documentWith(document: string, basePath: string, nonce: string): string {
  const base = basePath.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return document
    .replace('<base href="/"', () => `<base href="${base}/"`)
    .replace('<meta name="csp-nonce" content=""', () => `<meta name="csp-nonce" content="${nonce}"`);
}
