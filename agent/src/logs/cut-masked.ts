/** Cuts texts for people. A part of a secret that a cut has left is found by nobody: what is cut is masked first. */
import { maskText, type Secrets } from './mask.ts';

/**
 * @param mostCharacters of what is left of the text
 * @returns the text itself if it is not longer; it is masked with everything else before it leaves the agent
 */
export function cutMasked(text: string, mostCharacters: number, secrets: Secrets): string {
  if (text.length <= mostCharacters) return text;
  const masked = maskText(text, secrets);
  if (masked.length <= mostCharacters) return masked;
  // Half of a character is not a text.
  return `${masked.slice(0, mostCharacters).replace(/[\ud800-\udbff]$/, '')}…`;
}
