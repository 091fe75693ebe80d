/**
 * Tool output may be missing, cut off, huge, or anything at all: the part of the conformance suite about how
 * drivers handle that. Messages are for people; errors of the language itself would be defects.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type RunnableTool, tools } from '#protocol/tools/index.ts';
import { treeFrom } from '../../testing/driver-job.ts';
import {
  capturesOf,
  contextIn,
  materialOf,
  type RecordedPlan,
  recordingOf,
} from '../../testing/driver-material.ts';
import { drivers } from './index.ts';
import type { PhaseCaptures } from './interface/command.ts';
import { type Driver, type PlanReading, TornState } from './interface/driver.ts';

const megabyte = 1_000_000;
const longWord = Buffer.alloc(100 * megabyte, 'x');
const manyLines = Buffer.alloc(100 * megabyte, 'not what the tool prints\n');

/** By what has happened to the output. */
const damages: Readonly<Record<string, (bytes: Buffer) => Buffer | null>> = {
  'is missing': () => null,
  'is empty': () => Buffer.alloc(0),
  'is cut off': (bytes) => bytes.subarray(0, bytes.length / 2),
  'is binary': () => Buffer.from([0, 255, 254, 13, 10, 0, 128]),
  'is JSON of something else': () => Buffer.from('{"a":[null,{"b":1}]}\n'),
  'is a number': () => Buffer.from('7'),
  'is nested deeply': () => Buffer.from('['.repeat(200_000)),
  'is one word of 100 MB': () => longWord,
  'is 100 MB of lines': () => manyLines,
};

/** Fails if the work ends with anything but a result or a message for people. */
async function isUnderstood<Result>(work: () => Promise<Result> | Result): Promise<Result | null> {
  try {
    return await work();
  } catch (error) {
    assert.ok(error instanceof Error);
    const isDefect = [TypeError, RangeError, ReferenceError, EvalError].some((kind) => error instanceof kind);
    assert.ok(!isDefect, error.stack);
    assert.notEqual(error.message.trim(), '');
    assert.ok(error.message.length < 2_000, `a message of ${error.message.length} characters`);
    return null;
  }
}

/** Texts of the attributes of a plan that are long enough to be secrets, and no parts of names. */
function possibleSecrets({ plan }: PlanReading): string[] {
  const names = JSON.stringify(plan.resourceChanges.map(({ attributes: _, ...row }) => row));
  const values = plan.resourceChanges
    .flatMap(({ attributes }) => attributes.flatMap(({ before, after }) => [before, after]))
    .filter((value) => typeof value === 'string')
    .flatMap((text) => text.match(/[\w -]{8,}/g) ?? []);
  return [...new Set(values)].filter((text) => !names.includes(text));
}

for (const [tool, driver] of Object.entries(drivers) as [RunnableTool, Driver][]) {
  const material = await materialOf(tool);
  const contextOf = ({ job = {} }: Partial<RecordedPlan>) => contextIn(material, { tool, ...job }, null);
  const context = contextOf({});
  const facts = tools[tool];
  const plans = Object.entries(material.plans);
  describe(`the ${tool} driver and damaged output`, () => {
    for (const [damage, damaged] of Object.entries(damages))
      it(`a plan is read, or refused with a message, if a part of it ${damage}`, async () => {
        const readHuge = new Set<string>();
        for (const [, recorded] of plans) {
          const whole = await capturesOf(tool, recorded);
          for (const [name, bytes] of whole) {
            // Copies of the service are not those of the tool, and one plan shows how a driver handles 100 MB
            // in a part.
            if (name.startsWith('input:') || readHuge.has(name)) continue;
            const captures: Map<string, Uint8Array> = new Map(whole);
            const instead = damaged(bytes);
            if (instead !== null && instead.length >= 100 * megabyte) readHuge.add(name);
            if (instead === null) captures.delete(name);
            else captures.set(name, instead);
            await isUnderstood(() => driver.readPlan(contextOf(recorded), captures satisfies PhaseCaptures));
          }
        }
      });

    const mayBeEmpty = { skip: material.emptyIsUnchanged ?? false };
    it('a plan without any output is not one without changes', mayBeEmpty, async () => {
      for (const [scenario, recorded] of plans.filter(([, { hasChanges }]) => hasChanges)) {
        const whole = await capturesOf(tool, recorded);
        const kept = [...whole].filter(([name]) => name.startsWith('input:'));
        const emptied = [...whole].map(([name, bytes]) =>
          name.startsWith('input:') ? ([name, bytes] as const) : ([name, Buffer.alloc(0)] as const),
        );
        for (const captures of [new Map(kept), new Map(emptied)]) {
          const reading = await isUnderstood(() => driver.readPlan(contextOf(recorded), captures));
          assert.equal(reading, null, scenario);
        }
      }
    });

    it('secrets of the job are hidden wherever a plan has them', async () => {
      let [count, attributes] = [0, 0];
      for (const [, recorded] of plans) {
        const captures = await capturesOf(tool, recorded);
        const reading = await driver.readPlan(contextOf(recorded), captures);
        const secrets = possibleSecrets(reading);
        attributes += reading.plan.resourceChanges.flatMap((row) => row.attributes).length;
        count += secrets.length;
        const known = contextOf(recorded);
        const { plan } = await driver.readPlan({ ...known, job: { ...known.job, secrets } }, captures);
        for (const secret of secrets) assert.ok(!JSON.stringify(plan).includes(secret), secret);
      }
      assert.equal(count > 0, attributes > 0, 'attributes of the recorded plans have texts');
    });

    it('the last diagnostic of any output is a text or none', () => {
      const texts = [
        '',
        '\n',
        '\0',
        '{}',
        '[]',
        '{"type":"diagnostic"}',
        'Error: ',
        '╷\n│ Error: ',
        '\u001b[31m',
      ];
      for (const text of [
        ...texts,
        'x'.repeat(5 * megabyte),
        'Error: x\n'.repeat(megabyte),
        '{"a":1}\n'.repeat(megabyte),
      ]) {
        const found = driver.reason(text);
        assert.ok(found === null || found.trim() !== '', JSON.stringify(found));
      }
    });

    it('progress is read from any bytes', () => {
      const readers = [driver.progress?.fromLog, driver.progress?.fromFile].filter(
        (read) => read !== undefined,
      );
      for (const read of readers) {
        const reader = read.call(driver.progress);
        for (const chunk of [
          '{"',
          'type":',
          'null}\n',
          '\0\n',
          '[]\n7\n',
          'x'.repeat(megabyte),
          '\n',
          '{}\n'.repeat(1_000),
        ])
          for (const { address } of reader.read(Buffer.from(chunk))) assert.equal(typeof address, 'string');
      }
    });

    it('code that does not parse is refused with a message', async () => {
      const broken = Object.fromEntries(
        Object.keys(material.tree).map((name) => [name, '{{{ "unfinished\n\0']),
      );
      for (const tree of [treeFrom(broken), treeFrom({})]) {
        await isUnderstood(() =>
          driver.requiredVersions?.(tree, { program: facts.program.name, code: tree, folder: '' }),
        );
        await isUnderstood(() => driver.warnings({ ...context, tree }));
        await isUnderstood(() => driver.files({ ...context, tree }));
        await isUnderstood(() => driver.prepare({ ...context, tree }));
      }
    });

    const { state } = driver;
    if (state === undefined) return;

    it('bytes of something else than a state are refused with a message', async () => {
      assert.throws(() => state.read(Buffer.alloc(0)), TornState);
      for (const [, damaged] of Object.entries(damages)) {
        const bytes = damaged(await recordingOf(tool, material.state?.file ?? ''));
        if (bytes !== null) await isUnderstood(() => state.read(bytes));
      }
    });
  });
}
