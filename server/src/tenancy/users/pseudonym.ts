/** Replacement for a person whose account was deleted. */
import { hash } from 'node:crypto';

/**
 * The same for everything that the person did, so that a trail remains readable; it says nothing about who it
 * was.
 */
export function pseudonymOf(userId: string): string {
  return `Former user ${hash('sha256', `envarium pseudonym ${userId}`, 'hex').slice(0, 8)}`;
}
