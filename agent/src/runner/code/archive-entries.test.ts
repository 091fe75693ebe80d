import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { judgeArchive } from './unpack-source.ts';

const folder = mkdtempSync(join(tmpdir(), 'archive-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let number = 0;

interface Entry {
  readonly name: string;
  readonly type?: string;
  readonly target?: string;
  readonly content?: string;
}

/** A tar archive entry by entry, also such as no honest program makes. */
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

const limit = 10_000_000;

test('takes what tar makes of a folder, in each of its formats', async () => {
  const tree = join(folder, 'tree');
  const deep = join(tree, 'modules', 'a-name-that-is-long-'.repeat(6), 'another-long-name-'.repeat(6));
  mkdirSync(deep, { recursive: true });
  writeFileSync(join(tree, 'main.tf'), '# ä\n');
  writeFileSync(join(deep, 'ä file.tf'), 'x'.repeat(5000));
  symlinkSync('../main.tf', join(tree, 'modules', 'linked.tf'));
  for (const format of ['gnu', 'pax', 'posix']) {
    const file = join(folder, `${format}.tar.gz`);
    execFileSync('tar', ['-czf', file, `--format=${format}`, '-C', tree, '.']);
    assert.equal(await judgeArchive(file, limit), 7, format);
  }
});

test('refuses every entry that leads out of the folder, by its name', async () => {
  const refusals: [Entry[], RegExp][] = [
    [[{ name: '/etc/cron.d/x' }], /entry "\/etc\/cron.d\/x" leads out/],
    [[{ name: 'a/../../x' }], /entry "a\/..\/..\/x" leads out/],
    [[{ name: 'l', type: '2', target: '/etc' }], /"l" is a link to "\/etc", which leads out/],
    [[{ name: 'a/l', type: '2', target: '../../x' }], /"a\/l" is a link to "..\/..\/x"/],
    [[{ name: 'l', type: '2', target: 'a/../..' }], /"l" is a link/],
    [[{ name: 'l', type: '2', target: '.' }, { name: 'l/x' }], /"l\/x" lies below a symbolic link/],
    [
      [
        { name: 'l', type: '2', target: 'x' },
        { name: './l', content: 'planted' },
      ],
      /comes twice, first as a symbolic link/,
    ],
    [
      [{ name: 'h', type: '1', target: '/etc/passwd' }],
      /"h" is a link to "\/etc\/passwd", which is no file before it/,
    ],
    [[{ name: 'h', type: '1', target: 'later' }, { name: 'later' }], /"h" is a link/],
    [[{ name: 'pipe', type: '6' }], /"pipe" is no file, folder or link/],
    [[{ name: 'disk', type: '4' }], /"disk" is no file, folder or link/],
    [
      [{ name: 'x', type: 'x', content: '25 path=../../planted/x\n\n' }, { name: 'good' }],
      /leads out|pax header/,
    ],
    [[{ name: 'x', type: 'L', content: '/planted' }, { name: 'good' }], /entry "\/planted" leads out/],
    [[{ name: 'x', type: 'g', content: '9 path=a\n' }], /gives all entries one name/],
  ];
  for (const [entries, message] of refusals)
    await assert.rejects(judgeArchive(archiveOf(...entries), limit), message);
  assert.equal(
    await judgeArchive(
      archiveOf(
        { name: 'a/b' },
        { name: 'h', type: '1', target: './a/b' },
        { name: 'a/l', type: '2', target: '../h' },
      ),
      limit,
    ),
    3,
  );
});

test('refuses what is no archive, what breaks off, and what grows beyond the limit', async () => {
  await assert.rejects(
    judgeArchive(written(gzipSync(Buffer.alloc(2048, 'x'))), limit),
    /it is no tar archive/,
  );
  await assert.rejects(
    judgeArchive(written(Buffer.from('nothing')), limit),
    /the uploaded archive is refused/,
  );
  const whole = archiveOf({ name: 'a', content: 'x'.repeat(100_000) });
  await assert.rejects(
    judgeArchive(whole, 50_000),
    /unpacks to more than 0 MB \(setting ENVARIUM_TRAVEL_LIMIT_MB\)/,
  );
  const torn = gzipSync(Buffer.concat([Buffer.from('a'.padEnd(512, '\0'))]).subarray(0, 100));
  await assert.rejects(judgeArchive(written(torn), limit), /ends in the middle/);
  const bomb = written(gzipSync(Buffer.alloc(50_000_000)));
  assert.equal(await judgeArchive(bomb, limit), 0);
});
