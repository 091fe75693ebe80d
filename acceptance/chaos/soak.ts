/** Declares the test of a soak. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toolsOfFamily } from '../family-tools.ts';
import { type ChaosOptions, runChaos } from './chaos.ts';
import { painter, verdictText } from './picture.ts';
import { newSeed } from './random.ts';

const hasTool = (await toolsOfFamily()).some(({ skip }) => skip === false);

/**
 * @param name of the test; its diagnostics show the verdict
 * @param least how many runs have to end in the time that there is
 */
export function soak(
  name: string,
  least: number,
  options: Pick<ChaosOptions, 'runs' | 'seconds' | 'killEverySeconds'>,
): void {
  test(name, { skip: hasTool ? false : 'neither terraform nor OpenTofu is there' }, async (t) => {
    const verdict = await runChaos({ environments: 6, seed: newSeed(), ...options });
    const text = verdictText(verdict, painter({ write: () => undefined }));
    for (const line of text.split('\n').filter(Boolean)) t.diagnostic(line);
    assert.deepEqual(verdict.complaints, []);
    assert.ok(verdict.kills.size > 0, 'something was killed');
    assert.ok(verdict.runs >= least, `${verdict.runs} runs have ended in time, not ${least}`);
  });
}
