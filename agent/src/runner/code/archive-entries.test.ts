import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { openAttempt } from '../../../testing/attempt.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { unpackSourceStep } from './unpack-source.ts';

const folder = mkdtempSync(join(tmpdir(), 'archive-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let number = 0;

interface Entry {
  readonly name: string;
  readonly type?: string;
  readonly target?: string;
  readonly content?: string;
}

/** Builds a tar archive entry by entry, including invalid ones. */
function archiveOf(...entries: Entry[]): string {
  const blocks = entries.flatMap(({ name, type = '0', target = '', content = '' }) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write('0000644\0', 100);
    header.write(`${Buffer.byteLength(content).toString(8).padStart(11, '0')}\0`, 124);
    header.write('        ', 148);
    header.write(type, 156);
    header.write(target, 157);
    header.write('ustar\x0000', 257);
    header.write(
      `${header
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    );
    return [
      header,
      Buffer.concat([Buffer.from(content), Buffer.alloc((512 - (Buffer.byteLength(content) % 512)) % 512)]),
    ];
  });
  return written(gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)])));
}

function written(bytes: Buffer): string {
  const file = join(folder, `${++number}.tar.gz`);
  writeFileSync(file, bytes);
  return file;
}

function withLimit(t: TestContext, travelBytes = 10_000_000): AttemptContext {
  const limits = { runSeconds: 600, abortSeconds: 10, offlineGraceSeconds: 60, stepLogBytes: 1_000_000 };
  return openAttempt(t, {}, { type: 'remotePlan', limits: { ...limits, travelBytes } });
}

/** Unpacks an archive into the tree. @returns the number of its entries */
async function unpack(attempt: AttemptContext, file: string): Promise<number> {
  copyFileSync(file, attempt.spool.inputSource);
  await unpackSourceStep(attempt);
  const log = readFileSync(attempt.spool.stepLog('source:unpack'), 'utf8');
  return Number(/Unpacking the uploaded code: (\d+) entries/.exec(log)?.[1]);
}

async function expectRefusal(attempt: AttemptContext, file: string, message: RegExp): Promise<void> {
  await assert.rejects(unpack(attempt, file), message);
  assert.deepEqual(readdirSync(attempt.folders.tree), [], 'nothing is unpacked');
}

test('an archive that tar creates is unpacked entry by entry, in each of its formats', async (t) => {
  const tree = join(folder, 'tree');
  const deep = join(tree, 'modules', 'a-name-that-is-long-'.repeat(6), 'another-long-name-'.repeat(6));
  mkdirSync(deep, { recursive: true });
  writeFileSync(join(tree, 'main.tf'), '# ä\n');
  writeFileSync(join(deep, 'ä file.tf'), 'x'.repeat(5000));
  symlinkSync('../main.tf', join(tree, 'modules', 'linked.tf'));
  for (const format of ['gnu', 'pax', 'posix']) {
    const file = join(folder, `${format}.tar.gz`);
    execFileSync('tar', ['-czf', file, `--format=${format}`, '-C', tree, '.']);
    const attempt = withLimit(t);
    assert.equal(await unpack(attempt, file), 7, format);
    execFileSync('diff', ['-r', '--no-dereference', tree, attempt.folders.tree]);
  }
});

test('every entry that leads out of the folder is refused by its name', async (t) => {
  const attempt = withLimit(t);
  const refusals: [Entry[], RegExp][] = [
    [[{ name: '/etc/cron.d/x' }], /entry "\/etc\/cron.d\/x" leads out/],
    [[{ name: 'a/../../x' }], /entry "a\/..\/..\/x" leads out/],
    [[{ name: 'l', type: '2', target: '/etc' }, { name: 'l/x' }], /"l\/x" is below a symbolic link/],
    [[{ name: 'l', type: '2', target: '' }], /"l" is a link without a target/],
    [[{ name: 'l', type: '2', target: '.' }, { name: 'l/x' }], /"l\/x" is below a symbolic link/],
    [
      [
        { name: 'l', type: '2', target: 'x' },
        { name: './l', content: 'planted' },
      ],
      /occurs twice, first as a symbolic link/,
    ],
    [
      [{ name: 'h', type: '1', target: '/etc/passwd' }],
      /"h" is a link to "\/etc\/passwd", which is not an earlier file/,
    ],
    [[{ name: 'h', type: '1', target: 'later' }, { name: 'later' }], /"h" is a link/],
    [[{ name: 'pipe', type: '6' }], /"pipe" is not a file, folder or link/],
    [[{ name: 'disk', type: '4' }], /"disk" is not a file, folder or link/],
    [
      [{ name: 'x', type: 'x', content: '25 path=../../planted/x\n\n' }, { name: 'good' }],
      /leads out|pax header/,
    ],
    [[{ name: 'x', type: 'L', content: '/planted' }, { name: 'good' }], /entry "\/planted" leads out/],
    [
      [
        { name: 'x', type: 'g', content: '19 path=../planted\n' },
        { name: 'y', type: 'x', content: '9 mtime=1\n' },
        { name: 'good' },
      ],
      /"..\/planted" leads out/,
    ],
    [[{ name: 'd', type: '5', content: 'hidden' }, { name: 'good' }], /not a tar archive|has content/],
    [
      [{ name: 'h', type: '2', target: 'a', content: 'hidden' }],
      /"h" has content, although it is a symbolic link/,
    ],
  ];
  for (const [entries, message] of refusals) await expectRefusal(attempt, archiveOf(...entries), message);
  assert.equal(
    await unpack(
      attempt,
      archiveOf(
        { name: 'a/b' },
        { name: 'h', type: '1', target: './a/b' },
        { name: 'a/l', type: '2', target: '../h' },
        // As in a clone: they are not followed.
        { name: 'absolute', type: '2', target: '/etc' },
        { name: 'a/up', type: '2', target: '../../x' },
        { name: 'dangling', type: '2', target: 'nowhere' },
      ),
    ),
    6,
  );
});

test('files that are not archives, truncated archives and too large ones are refused', async (t) => {
  const attempt = withLimit(t);
  await expectRefusal(attempt, written(gzipSync(Buffer.alloc(2048, 'x'))), /it is not a tar archive/);
  await expectRefusal(attempt, written(Buffer.from('nothing')), /the uploaded archive is refused/);
  const whole = archiveOf({ name: 'a', content: 'x'.repeat(100_000) });
  await expectRefusal(
    withLimit(t, 50_000),
    whole,
    /unpacks to more than 0 MB \(setting ENVARIUM_TRAVEL_LIMIT_MB\)/,
  );
  const torn = gzipSync(Buffer.concat([Buffer.from('a'.padEnd(512, '\0'))]).subarray(0, 100));
  await expectRefusal(attempt, written(torn), /ends in the middle/);
  const bomb = written(gzipSync(Buffer.alloc(50_000_000)));
  await expectRefusal(attempt, bomb, /unpacks to more than 9 MB/);
});

test('a header that programs read differently cannot hide an entry from the check', async (t) => {
  const attempt = withLimit(t);
  // After a hard link with a size, GNU tar reads the next entry, and other programs read its content.
  const hidden = gunzipSync(readFileSync(archiveOf({ name: '../planted', content: 'x' }))).subarray(0, 1024);
  const entries = [{ name: 'a' }, { name: 'h', type: '1', target: 'a', content: hidden.toString('latin1') }];
  await expectRefusal(attempt, archiveOf(...entries), /"h" has content, although it is a hard link/);
  const joined = Buffer.concat(
    [archiveOf({ name: 'a' }), archiveOf({ name: 'b' })].map((file) => readFileSync(file)),
  );
  assert.equal(await unpack(attempt, written(joined)), 2);
  assert.deepEqual(readdirSync(attempt.folders.tree), ['a', 'b']);
});
