/** Page for browsers without a web interface: the reason, and a link to the reference. */
import type { FastifyInstance } from 'fastify';
import { openAdmission } from '../../framework/http/callers/authenticate.ts';
import { plainPageHeaders } from '../../framework/http/replies/headers.ts';

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:40em;margin:4em auto;padding:0 1em;color-scheme:light dark}';

function html(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Registers the page. @param basePath without a slash at its end */
export function answerWithoutWeb(app: FastifyInstance, basePath: string, problem: string): void {
  const page = [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Envarium</title><style>${style}</style></head><body><h1>Envarium</h1>`,
    '<p>The service runs, but it has no web interface.</p>',
    `<p>${html(problem)}.</p>`,
    `<p>The command line and the API work: <a href="${html(basePath)}/reference">reference of the API</a>.</p>`,
    '</body></html>',
  ].join('\n');
  app.get('/', { config: openAdmission }, (_request, reply) =>
    reply.code(503).type('text/html; charset=utf-8').headers(plainPageHeaders(style)).send(page),
  );
}
