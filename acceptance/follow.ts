/** Follows the events of a deployment as a person does, whatever happens to the service in the meantime. */
import assert from 'node:assert/strict';
import type { Client } from '#contract/client/client.ts';
import type { DeploymentStreamEvent } from '#contract/feeds/shapes.ts';

/** The bytes of a log event. */
export function logBytes(event: Extract<DeploymentStreamEvent, { event: 'log' }>): Buffer {
  return event.data.base64 === undefined
    ? Buffer.from(event.data.text ?? '')
    : Buffer.from(event.data.base64, 'base64');
}

export interface FollowedEvents {
  /** Log of each step. */
  readonly logs: ReadonlyMap<string, Buffer>;
  /** Status of the last event. */
  readonly end: string | undefined;
}

export interface EventFollowOptions {
  readonly signal: AbortSignal;
  /** Gets the name of each step that begins. */
  readonly onStep?: (step: string) => void;
}

/**
 * Follows a deployment to its end; a lost connection continues after the last event that came.
 * @throws Error if a byte is missing or comes twice
 */
export async function follow(
  client: Client,
  id: string,
  { signal, onStep }: EventFollowOptions,
): Promise<FollowedEvents> {
  const parts = new Map<string, { chunks: Buffer[]; size: number }>();
  let end: string | undefined;
  for await (const event of client.stream('streamDeployment', { params: { id }, signal })) {
    if (event.event === 'end') end = event.data.status;
    if (event.event === 'step' && event.data.status === 'IN_PROGRESS') onStep?.(event.data.name);
    if (event.event !== 'log') continue;
    const { step, offset, bytes } = event.data;
    const content = logBytes(event);
    const known = parts.get(step) ?? { chunks: [], size: 0 };
    if (offset !== known.size || content.length !== bytes)
      throw new Error(`${step}: ${content.length} of ${bytes} bytes at ${offset} came after ${known.size}`);
    known.chunks.push(content);
    known.size += bytes;
    parts.set(step, known);
  }
  return { logs: new Map([...parts].map(([step, { chunks }]) => [step, Buffer.concat(chunks)])), end };
}

/** Fails with the step at which two logs of a deployment differ. */
export function assertSameLogs(
  actual: ReadonlyMap<string, Buffer>,
  expected: ReadonlyMap<string, Buffer>,
  whose: string,
): void {
  for (const step of new Set([...actual.keys(), ...expected.keys()]))
    assert.equal(
      String(actual.get(step) ?? ''),
      String(expected.get(step) ?? ''),
      `${whose}: the log of ${step}`,
    );
}
