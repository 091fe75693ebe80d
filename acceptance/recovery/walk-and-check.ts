/** The tests of one walk: afterwards, everything that a cell leaves is compared with the law. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { withDatabase } from '../database.ts';
import type { FamilyTool } from '../family-tools.ts';
import { assertSameLogs } from '../follow.ts';
import { streamedLogs } from '../runs.ts';
import { type Fate, type FateName, fateOf, type Killed, type Phase, phases } from './law.ts';
import { spooledName } from './spooled-logs.ts';
import { secret, Walk, type WalkCell } from './walk.ts';

/** Changes to the world before the deployment in question. */
function earlierDeeds(phase: Phase): string[] {
  return phase === 'destroy' || phase === 'task' ? ['first', 'begin', 'end'] : [];
}

/** Changes to the world by the deployment itself, up to the kill and after it. */
const deeds: Readonly<Partial<Record<Phase, readonly [until: string[], rest: string[]]>>> = {
  apply: [['first', 'begin'], ['end']],
  applied: [['first', 'begin', 'end'], []],
  destroy: [['gone'], []],
  task: [['task'], ['done']],
};

function expectedDeeds(phase: Phase, { ends }: Fate): string[] {
  const [until, rest] = deeds[phase] ?? [[], ['first', 'begin', 'end']];
  return [...earlierDeeds(phase), ...until, ...(ends === 'SUCCESS' ? rest : [])];
}

/** Remains of a tool of the family that is killed while it creates the second resource. */
function lossesOf({ type }: FamilyTool, phase: Phase, { name }: { readonly name: FateName }) {
  const isKilled = name === 'cut' || name === 'lost';
  if (phase !== 'apply' || !isKilled) return { unrecorded: [], isFirstKnown: true };
  // OpenTofu writes nothing into its state for 20 seconds.
  const isFirstKnown = type === 'terraform';
  const first = isFirstKnown ? [] : [['terraform_data.first', 'created']];
  return { unrecorded: [...first, ['terraform_data.second', 'may exist']], isFirstKnown };
}

/** Number of resources in the state when the deployment has ended well. */
function resourcesAfter(phase: Phase): number {
  return phase === 'destroy' ? 0 : 2;
}

/** Declares the tests of one walk. @param round distinguishes the walks of a longer test */
export function walkAndCheck(tool: FamilyTool, killed: Killed, round = ''): void {
  const name = `${tool.type}: the ${killed} is killed ${round}`.trim();
  // Each test deploys an environment of its own once more.
  describe(name, { skip: tool.skip, concurrency: true }, () => {
    let walk: Walk;
    before(async () => {
      walk = await Walk.start(tool);
      await walk.kill(killed);
    });
    after(async () => {
      await walk?.[Symbol.asyncDispose]();
    });
    for (const phase of Object.keys(phases) as Phase[]) {
      const fate = fateOf(phase, killed);
      if (fate !== null)
        test(`in ${phase}: ${fate.name}`, () => check(walk, tool, walk.cells.get(phase)!, fate));
    }
  });
}

async function check(
  walk: Walk,
  tool: FamilyTool,
  cell: WalkCell,
  fate: Fate & { readonly name: FateName },
): Promise<void> {
  const { phase } = cell;
  const deployment = await walk.deploymentOf(cell);
  assert.equal(deployment.status, fate.ends, deployment.error?.message);
  if (fate.name === 'failed' || fate.name === 'cut')
    assert.match(deployment.error?.message ?? '', /was ended by signal SIGKILL/);
  assert.deepEqual(walk.deedsOf(phase), expectedDeeds(phase, fate));
  const { unrecorded, isFirstKnown } = lossesOf(tool, phase, fate);
  assert.deepEqual(
    // In the order in which the tool began them.
    (deployment.unrecordedResources ?? []).map((each) => [each.address, each.certainty]),
    unrecorded,
  );
  for (const each of deployment.unrecordedResources ?? [])
    assert.equal(each.id !== undefined, each.certainty === 'created', 'what was created has its id');
  await checkState(walk, cell, deployment, isFirstKnown);
  await checkLog(walk, cell, fate);
  await checkAudit(walk, cell);
  if (fate.ends === 'SUCCESS') assert.equal(deployment.resourceCount, resourcesAfter(phase));
  else await checkNext(walk, cell, isFirstKnown);
}

/** The newest version is current, and none was left out or came twice. */
async function checkState(
  walk: Walk,
  { phase, environmentId }: WalkCell,
  { stateVersionId }: Deployment,
  isFirstKnown: boolean,
): Promise<void> {
  const { client } = walk.service;
  const versions = await client.call('listStateVersions', { params: { id: environmentId } });
  const serials = versions.map(({ serial }) => serial);
  assert.equal(new Set(serials).size, serials.length, `serials ${serials.join()}`);
  assert.deepEqual(
    versions.filter(({ standing }) => standing === 'current').length,
    versions.length > 0 ? 1 : 0,
  );
  if (phase !== 'apply' || !isFirstKnown) return;
  assert.ok(stateVersionId, 'the state that the tool left is stored');
  const content = await client.bytes('getStateContent', { params: { id: stateVersionId } });
  const { resources } = JSON.parse(Buffer.from(content).toString()) as { resources: { name: string }[] };
  assert.ok(resources.some(({ name }) => name === 'first'));
}

/**
 * No byte is missing or comes twice, to those who followed the deployment while something was killed as well, and
 * what happened once was logged once.
 */
async function checkLog(
  walk: Walk,
  cell: WalkCell,
  fate: { readonly name: FateName; readonly ends: string },
): Promise<void> {
  const { deploymentId, phase } = cell;
  const logs = await streamedLogs(walk.service.client, deploymentId);
  const { logs: followed, end } = await cell.followed;
  assert.equal(end, fate.ends, 'the end that was followed');
  assertSameLogs(followed, logs, 'who followed');
  checkSpooled(walk, cell, logs, fate.name);
  const whole = stripVTControlCharacters([...logs.values()].map(String).join(''));
  assert.doesNotMatch(whole, new RegExp(secret));
  if (fate.ends !== 'SUCCESS') return;
  // The attempt that was replaced has logged its checkout, too.
  const checkouts = fate.name === 'again' && phase !== 'checkout' ? 2 : 1;
  assert.equal(whole.match(/^Commit /gm)?.length ?? 0, checkouts);
  const expected = phase === 'task' ? 0 : 1;
  assert.equal(whole.match(/^Plan: /gm)?.length ?? 0, expected);
  assert.equal(whole.match(/^(Apply|Destroy) complete!/gm)?.length ?? 0, expected);
}

/** The log is what the attempts have printed, masked, byte for byte. */
function checkSpooled(walk: Walk, cell: WalkCell, logs: ReadonlyMap<string, Buffer>, fate: FateName): void {
  const attempts = walk.spooledOf(cell);
  assert.ok(attempts.length > 0, 'an attempt was seen in the spool folder');
  for (const [step, stored] of logs) {
    const printed = attempts.flatMap(({ steps }) => steps.get(spooledName(step)) ?? []);
    const masked = printed.map((bytes) => bytes.toString().replaceAll(secret, '***'));
    // A step that was over too soon to be seen.
    if (masked.length === 0) continue;
    const last = masked.at(-1) ?? '';
    const text = stored.toString();
    if (fate !== 'again') {
      assert.equal(text, masked.join(''), `the log of ${step}`);
      continue;
    }
    // Of the attempt that was replaced, what it had sent until then.
    assert.ok(text.endsWith(last), `the log of ${step} ends with what its last attempt has printed`);
    const before = text.slice(0, text.length - last.length);
    assert.ok(
      masked.slice(0, -1).join('').startsWith(before),
      `the log of ${step} begins with the first one`,
    );
  }
}

/** A deployment is started once, however often its run begins. */
async function checkAudit(walk: Walk, { deploymentId }: WalkCell): Promise<void> {
  const { rows } = await withDatabase(walk.service, (database) =>
    database.query<{ count: string }>(
      "select count(*) from audit_event where action = 'deployment.started' and entity_id = $1",
      [deploymentId],
    ),
  );
  assert.equal(Number(rows[0]?.count), 1);
}

/** The environment is free, and the same code brings it to what it says without creating anything again. */
async function checkNext(walk: Walk, cell: WalkCell, isFirstKnown: boolean): Promise<void> {
  const next = await walk.deployAgain(cell);
  assert.equal(next.resourceCount, 2);
  const firsts = walk.deedsOf(cell.phase).filter((deed) => deed === 'first').length;
  assert.equal(firsts, isFirstKnown ? 1 : 2);
}
