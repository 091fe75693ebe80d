/** The ids of events in the stream of a deployment: where a reader continues. */
import { badField } from '../../ground/errors.ts';
import { type DeploymentCursor, readCursor } from './follow-deployment.ts';

export function encodeCursor({ event, logs }: DeploymentCursor): string {
  return Buffer.from(JSON.stringify([event, logs])).toString('base64url');
}

/** @throws Refusal 400 for a cursor that no stream has sent */
export function decodeCursor(text: string | undefined): DeploymentCursor {
  if (!text) return { event: 0, logs: {} };
  try {
    const cursor = readCursor(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
    if (cursor) return cursor;
  } catch {
    // Falls through to the refusal below.
  }
  throw badField('headers.last-event-id', 'must be the id of an event of this stream');
}
