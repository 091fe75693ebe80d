/** Waits for what no event tells. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';

/** @throws AssertionError after twenty seconds, with what did not happen */
export async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 20_000; !(await isTrue()); await delay(10))
    assert.ok(Date.now() < deadline, `${what} did not happen`);
}
