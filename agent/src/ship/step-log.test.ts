import assert from 'node:assert/strict';
import { appendFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { patternsOf } from '../logs/mask.ts';
import { createStepFilter } from './step-filter.ts';
import { MaskedStepLog } from './step-log.ts';

const secrets = patternsOf(['abcd', 'bcdabc']);

function rawFile(t: TestContext): string {
  const folder = temporaryFolder(t, 'step-log-');
  return join(folder, 'raw');
}

function masked(raw: string, limit: number): Buffer {
  const filter = createStepFilter(secrets, limit);
  return Buffer.concat([filter.push(Buffer.from(raw)), filter.end()]);
}

test('the sent log is the masked raw file, however it is read, interrupted and requested again', async (t) => {
  const file = rawFile(t);
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', 'd', 'abcd', '\n', 'é'), { maxLength: 60 })
    .map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { maxLength: 6 }),
      fc.array(fc.nat({ max: 200 }), { maxLength: 10 }),
      fc.integer({ min: 8, max: 400 }),
      async (parts, jumps, limit) => {
        writeFileSync(file, '');
        const stored: Buffer[] = [];
        const storedBytes = () => stored.reduce((sum, one) => sum + one.length, 0);
        let log = new MaskedStepLog(file, () => createStepFilter(secrets, limit));
        const send = async (bytes: number) => {
          await log.fill(bytes);
          // The server accepts what it does not have yet, whatever the agent's position is.
          const have = Buffer.concat(stored);
          const fresh = log.pending.subarray(Math.max(0, have.length - log.offset), bytes);
          assert.ok(log.offset <= have.length);
          stored.push(Buffer.from(fresh));
          log.goTo(storedBytes());
        };
        for (const [index, part] of parts.entries()) {
          appendFileSync(file, part);
          const jump = jumps[index] ?? 1;
          await send(jump + 1);
          if (jump % 3 === 0) log.goTo(Math.min(jump, log.offset));
          if (jump % 5 === 0) {
            log[Symbol.dispose]();
            log = new MaskedStepLog(file, () => createStepFilter(secrets, limit));
          }
        }
        const counted = log.close(null);
        appendFileSync(file, 'what comes after the end abcd');
        log.close(counted);
        while (!log.isWhole || log.pending.length > 0) await send(50);
        log[Symbol.dispose]();
        assert.equal(
          Buffer.concat(stored).toString('latin1'),
          masked(parts.join(''), limit).toString('latin1'),
        );
      },
    ),
    { numRuns: 60 },
  );
});

test('a step without a log is complete as soon as it ends', async (t) => {
  using log = new MaskedStepLog(rawFile(t), () => createStepFilter(secrets, 100));
  await log.fill(10);
  assert.equal(log.isWhole, false);
  assert.equal(log.close(null), 0);
  await log.fill(10);
  assert.equal(log.isWhole, true);
});

test('an extended log is read up to its limit, and other work gets its turn in between', async (t) => {
  const file = rawFile(t);
  writeFileSync(file, 'printed\n');
  truncateSync(file, 8 * 1024 ** 3);
  const most = 32 * 1024 ** 2;
  using log = new MaskedStepLog(file, () => createStepFilter(secrets, 1000), most);
  let turns = 0;
  const others = setInterval(() => turns++, 1);
  t.after(() => clearInterval(others));
  assert.equal(log.close(null), most);
  await log.fill(2000);
  assert.ok(log.isWhole);
  assert.match(log.pending.toString('latin1'), /^printed\n[^]*bytes are left out here/);
  assert.ok(log.pending.length < 1200, `${log.pending.length} bytes`);
  assert.ok(turns > 5, `${turns} turns`);
});
