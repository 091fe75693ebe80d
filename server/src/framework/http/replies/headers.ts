/** Headers of replies: those of streams, of the pages that the service shows in a browser, and warnings. */
import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { joinWarnings, splitWarnings, warningHeader } from '#contract/schema/warning-header.ts';

/**
 * Takes a reply over from Fastify, for streams: the headers that hooks have set are sent as with any other reply.
 * From here on the response is the caller's, and errors go only to the log.
 * @param reply one that nothing was sent of
 * @returns the response, with status 200, and its headers sent
 */
export function hijackReply(reply: FastifyReply, headers: OutgoingHttpHeaders): ServerResponse {
  reply.hijack();
  const ofHooks = reply.getHeaders() as OutgoingHttpHeaders;
  return reply.raw.writeHead(200, { ...ofHooks, ...headers });
}

type ContentPolicy = Readonly<Record<string, string>>;

/** Nothing is allowed, not even what most pages need. */
const nothing: ContentPolicy = {
  'default-src': "'none'",
  'base-uri': "'self'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
};

function headersWith(policy: ContentPolicy): Record<string, string> {
  return {
    'content-security-policy': Object.entries({ ...nothing, ...policy })
      .map(([name, value]) => `${name} ${value}`)
      .join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()',
  };
}

/**
 * Headers of the web interface: scripts, styles, fonts and calls of the service itself, and no other.
 * @param nonce of this reply, for the style elements that components insert; never for scripts
 */
export function applicationHeaders(nonce: string): Record<string, string> {
  return headersWith({
    'script-src': "'self'",
    'style-src': `'self' 'nonce-${nonce}'`,
    'style-src-attr': "'none'",
    'img-src': "'self' data:",
    'font-src': "'self'",
    'connect-src': "'self'",
    'worker-src': "'self'",
    'manifest-src': "'self'",
    'object-src': "'none'",
  });
}

/** Headers of a page without scripts, whose one style element has this text. */
export function plainPageHeaders(style: string): Record<string, string> {
  return headersWith({ 'style-src': `'sha256-${createHash('sha256').update(style).digest('base64')}'` });
}

/** Adds plain sentences to the warnings of the reply; warnings about fields come from the contract. */
export function warn({ reply }: { readonly reply: FastifyReply }, ...sentences: readonly string[]): void {
  if (sentences.length === 0) return;
  const before = splitWarnings(String(reply.getHeader(warningHeader) ?? ''));
  reply.header(warningHeader, joinWarnings([...before, ...sentences]));
}
