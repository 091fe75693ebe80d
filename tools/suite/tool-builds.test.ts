import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { expectedToolsVariable, type ToolboxName } from '../toolbox/places.ts';
import type { Job } from './job.ts';
import { ToolBuilds } from './tool-builds.ts';

const { TOOLBOX_DIR, [expectedToolsVariable]: expected } = process.env;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolbox-'));
  process.env.TOOLBOX_DIR = folder;
  delete process.env[expectedToolsVariable];
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  for (const [name, value] of Object.entries({ TOOLBOX_DIR, [expectedToolsVariable]: expected }))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
});

const job = (seconds: number, ...tools: ToolboxName[]): Job => ({ files: ['a'], minutes: 1, seconds, tools });

/** Builds that end when the test says so. */
function openBuilds(...jobs: readonly Job[]) {
  const started: ToolboxName[] = [];
  const errors: string[] = [];
  const ends = new Map<ToolboxName, PromiseWithResolvers<boolean>>();
  const builds = new ToolBuilds(
    jobs,
    { info: () => {}, error: (line) => void errors.push(line) },
    new AbortController().signal,
    (name) => {
      started.push(name);
      const end = Promise.withResolvers<boolean>();
      ends.set(name, end);
      return end.promise;
    },
  );
  const end = async (name: ToolboxName, isThere: boolean | Error) => {
    const { resolve, reject } = ends.get(name)!;
    if (typeof isThere === 'boolean') resolve(isThere);
    else reject(isThere);
    await setImmediate();
  };
  return { builds, started, errors, end };
}

test('tools are built one after the other, first those that most test time waits for, and those of PyPI at the same time', async () => {
  const { builds, started, end } = openBuilds(job(1, 'helm', 'ansible'), job(5, 'opa'), job(2, 'helm'));
  assert.deepEqual(started, ['ansible', 'opa']);
  assert.equal(builds.isSettled('helm'), false);
  const next = builds.nextSettled();
  await end('opa', true);
  await next;
  assert.deepEqual([builds.isSettled('opa'), builds.isSettled('ansible')], [true, false]);
  assert.deepEqual(started, ['ansible', 'opa', 'helm']);
});

test('a tool that nothing needs is not built', () => {
  const { builds, started } = openBuilds(job(1));
  assert.deepEqual([started, builds.isSettled('opa')], [[], true]);
});

test('a tool that cannot be built is settled, too, and the others are built', async () => {
  const { builds, started, errors, end } = openBuilds(job(3, 'opa'), job(2, 'helm'), job(1, 'kustomize'));
  await end('opa', false);
  await end('helm', new Error('disk full'));
  await end('kustomize', true);
  assert.deepEqual([builds.failed, builds.built], [['opa', 'helm'], ['kustomize']]);
  assert.deepEqual(errors, ['helm was not built: disk full']);
  assert.deepEqual([builds.isSettled('helm'), started.at(-1)], [true, 'kustomize']);
});

test('what all builds lack is logged once', async () => {
  const errors: string[] = [];
  const builds = new ToolBuilds(
    [job(2, 'opa'), job(1, 'helm')],
    { info: () => {}, error: (line) => void errors.push(line) },
    new AbortController().signal,
    async (_, log) => {
      log.error('Go is missing');
      return false;
    },
  );
  while (!builds.isSettled('helm')) await builds.nextSettled();
  assert.deepEqual([errors, builds.failed], [['Go is missing'], ['opa', 'helm']]);
});
