/** Warnings that a verb finds while it works; those about fields come from the contract. */
import type { FastifyReply } from 'fastify';
import { joinWarnings, splitWarnings, warningHeader } from '#contract/schema/warning-header.ts';

/** Adds plain sentences to the warnings of the reply. */
export function warn({ reply }: { readonly reply: FastifyReply }, ...sentences: readonly string[]): void {
  if (sentences.length === 0) return;
  const before = splitWarnings(String(reply.getHeader(warningHeader) ?? ''));
  reply.header(warningHeader, joinWarnings([...before, ...sentences]));
}
