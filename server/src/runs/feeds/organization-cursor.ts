/**
 * The position of a reader of an organization's stream: what it has of the organization and, if it follows a
 * deployment on the same connection, of that.
 */
import { badField } from '../../ground/errors.ts';
import { type DeploymentCursor, readCursor } from './follow-deployment.ts';
import type { EventPosition } from './organization-feed.ts';

export interface FeedPosition {
  /** Changes with each event. */
  place: EventPosition;
  readonly followed?: { readonly deploymentId: string; readonly cursor: DeploymentCursor } | undefined;
}

export function encodePosition({ place: { transaction, number, at }, followed }: FeedPosition): string {
  const ofDeployment = followed ? [followed.deploymentId, followed.cursor.event, followed.cursor.logs] : [];
  const parts = [transaction.toString(), number.toString(), at, ...ofDeployment];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** @throws Refusal 400 for an id that no stream has issued */
export function decodePosition(text: string): FeedPosition {
  try {
    const [transaction, number, at, deploymentId, ...rest] = JSON.parse(
      Buffer.from(text, 'base64url').toString('utf8'),
    ) as [string, string, number, string?, ...unknown[]];
    if (/^\d{1,19}$/.test(transaction) && /^(-1|\d{1,18})$/.test(number) && Number.isSafeInteger(at)) {
      const place = { transaction: BigInt(transaction), number: BigInt(number), at };
      if (deploymentId === undefined) return { place };
      const cursor = readCursor(rest);
      if (cursor && typeof deploymentId === 'string') return { place, followed: { deploymentId, cursor } };
    }
  } catch {
    // Falls through to the refusal below.
  }
  throw badField('headers.last-event-id', 'must be the id of an event of this stream');
}
