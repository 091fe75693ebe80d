/** Events between servers: on one channel of the database, each with a short name before its payload. */
import { hash } from 'node:crypto';

export const postgresChannel = 'envarium';
export const nameLength = 22;

/** A short name of fixed length, whatever the channel is called. */
export function nameOf(channel: string): string {
  return hash('sha256', channel, 'base64url').slice(0, nameLength);
}

/** The payload of `pg_notify` for an event of a channel. */
export function noticeOf(channel: string, payload = ''): string {
  return nameOf(channel) + payload;
}
