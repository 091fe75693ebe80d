/** Waits for what no event reports, with a deadline. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';

/** @throws AssertionError after the seconds, with what was waited for */
export async function until(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  seconds = 20,
): Promise<void> {
  for (const deadline = Date.now() + seconds * 1000; !(await isTrue()); await delay(10))
    assert.ok(Date.now() < deadline, `waited ${seconds} seconds in vain for ${what}`);
}
