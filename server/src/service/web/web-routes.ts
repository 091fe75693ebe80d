/** Serves the web interface: one document for all of its pages, and the files that it loads. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import negotiator from '@fastify/accept-negotiator';
import send from '@fastify/send';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../framework/context.ts';
import { openAdmission } from '../../framework/http/callers/authenticate.ts';
import { basePathOf } from '../../framework/http/callers/base-url.ts';
import { compressedRoute } from '../../framework/http/replies/compression.ts';
import { applicationHeaders, plainPageHeaders } from '../../framework/http/replies/headers.ts';
import type { ServerSettings } from '../../ground/config/config.ts';

interface WebFolder {
  readonly path: string;
  /** The one document of all pages, with places for the base path and a nonce. */
  readonly document: string;
  /** All other files by their paths in the folder. */
  readonly files: ReadonlySet<string>;
}

/** Why there is no web interface, as one sentence. */
interface MissingWeb {
  readonly problem: string;
}

/** Placeholders that the server replaces: each must occur once. */
const places = ['<base href="/"', '<meta name="csp-nonce" content=""'];

/**
 * Opens the built web interface, a folder of files that do not change while the service runs.
 */
function openWebFolder(settings: Pick<ServerSettings, 'webFolder' | 'webProblem'>): WebFolder | MissingWeb {
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
function documentWith(document: string, basePath: string, nonce: string): string {
  const base = basePath.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return document
    .replace('<base href="/"', () => `<base href="${base}/"`)
    .replace('<meta name="csp-nonce" content=""', () => `<meta name="csp-nonce" content="${nonce}"`);
}

const missingWebStyle =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:40em;margin:4em auto;padding:0 1em;color-scheme:light dark}';

function html(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/**
 * Registers the page for browsers that is shown without a web interface: the reason, and a link to the reference.
 * @param basePath without a slash at its end
 */
function answerWithoutWeb(app: FastifyInstance, basePath: string, problem: string): void {
  const page = [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Envarium</title><style>${missingWebStyle}</style></head><body><h1>Envarium</h1>`,
    '<p>The service runs, but it has no web interface.</p>',
    `<p>${html(problem)}.</p>`,
    `<p>The command line and the API work: <a href="${html(basePath)}/reference">reference of the API</a>.</p>`,
    '</body></html>',
  ].join('\n');
  app.get('/', { config: openAdmission }, (_request, reply) =>
    reply.code(503).type('text/html; charset=utf-8').headers(plainPageHeaders(missingWebStyle)).send(page),
  );
}

/** Files that bear a hash of their content in their names. */
const hashedFolder = 'assets/';
const hourMilliseconds = 60 * 60 * 1000;
const yearMilliseconds = 365 * 24 * hourMilliseconds;

/** The compressed copies that the build puts next to a file. */
const endings: Readonly<Record<string, string>> = { br: '.br', gzip: '.gz' };
const codings = Object.keys(endings);

/** The coding that the caller prefers among those that a file has; null for the file as it is. */
function codingFor({ files }: WebFolder, file: string, accepted: string | undefined): string | null {
  const available = codings.filter((coding) => files.has(`${file}${endings[coding]}`));
  return accepted === undefined || available.length === 0 ? null : negotiator.negotiate(accepted, available);
}

function notFound(reply: FastifyReply): FastifyReply {
  reply.callNotFound();
  return reply;
}

async function sendFile(
  folder: WebFolder,
  file: string,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const coding = codingFor(folder, file, request.headers['accept-encoding']);
  const isHashed = file.startsWith(hashedFolder);
  const sent = await send(request.raw, encodeURI(`/${file}${coding === null ? '' : endings[coding]}`), {
    root: folder.path,
    dotfiles: 'allow',
    index: false,
    contentType: false,
    maxAge: isHashed ? yearMilliseconds : hourMilliseconds,
    immutable: isHashed,
  });
  // The folder was removed or changed since the start.
  if (sent.type !== 'file') return notFound(reply);
  if (coding !== null && sent.statusCode !== 304) reply.header('content-encoding', coding);
  const type = send.mime.getType(file) ?? 'application/octet-stream';
  reply.type(send.isUtf8MimeType(type) ? `${type}; charset=utf-8` : type);
  reply.headers({ ...sent.headers, vary: 'accept-encoding', 'x-content-type-options': 'nosniff' });
  return reply.code(sent.statusCode).send(sent.stream);
}

/** Registers the document and its files, or their replacement. */
export function webRoutes(app: FastifyInstance, { settings, log }: Context): void {
  const folder = openWebFolder(settings);
  const basePath = basePathOf(settings);
  if ('problem' in folder) {
    log.info({ problem: folder.problem }, 'there is no web interface');
    answerWithoutWeb(app, basePath, folder.problem);
    return;
  }
  app.get('/', { ...compressedRoute, config: openAdmission }, (_request, reply) => {
    const nonce = randomBytes(16).toString('base64');
    return (
      reply
        .type('text/html; charset=utf-8')
        .headers(applicationHeaders(nonce))
        // Without a tag: a stored copy would not have the nonce of the new headers.
        .header('cache-control', 'no-cache')
        .send(documentWith(folder.document, basePath, nonce))
    );
  });
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    const file = decodeURI(request.url.split('?', 1)[0] ?? '').slice(1);
    return folder.files.has(file) ? sendFile(folder, file, { request, reply }) : notFound(reply);
  };
  const tops = new Set(
    Array.from(folder.files, (file) => (file.includes('/') ? `${file.split('/')[0]}/*` : file)),
  );
  const config = { ...openAdmission, hasPath: (path: string) => folder.files.has(path) };
  for (const top of tops) app.get(`/${top}`, { config }, handler);
}
