/** Warnings that a verb finds while it works; those about fields come from the contract. */
import { joinWarnings, splitWarnings, warningHeader } from '#contract/schema/warning-header.ts';
import type { Wire } from './route.ts';

/** Adds plain sentences to the warnings of the reply. */
export function warn({ reply }: Pick<Wire, 'reply'>, ...sentences: readonly string[]): void {
  if (sentences.length === 0) return;
  const before = splitWarnings(String(reply.getHeader(warningHeader) ?? ''));
  reply.header(warningHeader, joinWarnings([...before, ...sentences]));
}
