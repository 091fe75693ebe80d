/** Serves the web interface: one document for all of its pages, and the files that it loads. */
import { randomBytes } from 'node:crypto';
import negotiator from '@fastify/accept-negotiator';
import send from '@fastify/send';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../framework/context.ts';
import { openAdmission } from '../../framework/http/callers/authenticate.ts';
import { basePathOf } from '../../framework/http/callers/base-url.ts';
import { compressedRoute } from '../../framework/http/replies/compression.ts';
import { applicationHeaders } from '../../framework/http/replies/headers.ts';
import { documentWith, openWebFolder, type WebFolder } from './web-folder.ts';
import { answerWithoutWeb } from './without-web.ts';

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
