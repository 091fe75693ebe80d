/** An engine of approval policies without a server, for tests. */
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { placeOf } from '../../tools/toolbox/places.ts';
import type { Context } from '../src/framework/context.ts';
import type { PolicyFiles } from '../src/rules/approval-policies/evaluation/compile-policy.ts';
import { PolicyCheck } from '../src/rules/approval-policies/evaluation/policy-engine.ts';

type EngineContext = Pick<Context, 'settings' | 'stopping' | 'events'>;

/** Evaluates a policy in a process of its own. @param input as JSON */
export async function evaluateFiles(context: EngineContext, files: PolicyFiles, input: Buffer) {
  const document = { common: input, configuration: '{}', whole: () => input };
  await using check = new PolicyCheck(context, input, 1);
  return await check.evaluate(files, document);
}

/** Ends with the test. */
export function engine(t: TestContext, more: Partial<Context['settings']> = {}) {
  const dataFolder = mkdtempSync(join(tmpdir(), 'policies-'));
  const closing = new AbortController();
  t.after(() => {
    closing.abort();
    rmSync(dataFolder, { recursive: true });
  });
  const settings = {
    dataFolder,
    opaProgram: placeOf('opa') ?? '',
    policyMemoryMegabytes: 512,
    policyTimeLimitSeconds: 10,
    policyProcesses: 2,
    ...more,
  } as unknown as Context['settings'];
  const context: EngineContext = { settings, stopping: closing.signal, events: {} as Context['events'] };
  const evaluate = (text: string, input: unknown = {}) =>
    evaluateFiles(context, new Map([['policy.rego', text]]), Buffer.from(JSON.stringify(input)));
  return { context, evaluate, closing, dataFolder };
}

/** Of a policy whose rules have no messages. */
export const none = { deny: [], pending: [], allow: [], warn: [] };

/** Processes of opa that work below a folder. */
export function processesIn(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      return false;
    }
  });
}
