import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openDataFolder } from '../config/data-folder.ts';
import { type AccountSettings, isMapped } from './account.ts';
import { openDatabase } from './open.ts';
import { takeOver } from './take-over.ts';

const needsRoot = { skip: process.getuid?.() !== 0 && 'needs root, who can change owners' };
const nobody = Number(
  readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((line) => line.startsWith('nobody:'))
    ?.split(':')[2] ?? 65_534,
);
const runs = { slotUidBase: 58_000, slotUidCount: 1000 };
const ownUid = 59_000;

/** Access of a process of another service's account to a path. */
function tryAsNobody(program: string, ...args: string[]): string {
  const { stdout, stderr } = spawnSync(program, args, {
    uid: nobody,
    gid: nobody,
    cwd: '/',
    encoding: 'utf8',
    env: {},
  });
  return `${stdout}${stderr}`;
}

describe('the account of the embedded PostgreSQL', needsRoot, () => {
  let folder: string;
  let data: string;
  let cluster: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'database account '));
    chmodSync(folder, 0o711);
    data = join(folder, 'data');
    cluster = join(openDataFolder(data).place, 'postgresql', 'data');
  });
  after(() => rmSync(folder, { recursive: true }));

  const open = (account: AccountSettings) =>
    openDatabase({ dataFolder: data, databaseUrl: undefined, account });
  const ownersIn = (path: string) =>
    execFileSync('find', [path, '-printf', '%U %G\n'], { encoding: 'utf8' }).trim().split('\n');

  test('a database that ran as nobody is transferred to a user id of its own, with its rows', async () => {
    {
      await using first = await open({ ...runs, databaseUid: nobody });
      await first.pool.query('create table kept as select 42 as number');
      assert.equal(statSync(`/proc/${first.embeddedPid}`).uid, nobody);
    }
    const target = join(folder, 'of root');
    writeFileSync(target, 'kept', { mode: 0o600 });
    symlinkSync(target, join(cluster, 'pg_stat', 'link'));
    symlinkSync(folder, join(cluster, 'pg_snapshots', 'link'));
    await using second = await open(runs);
    assert.equal((await second.pool.query('select number from kept')).rows[0].number, 42);
    assert.equal(statSync(`/proc/${second.embeddedPid}`).uid, ownUid);
    assert.deepEqual([...new Set(ownersIn(cluster))], [`${ownUid} ${ownUid}`]);
    assert.deepEqual([statSync(target).uid, statSync(folder).uid], [0, 0]);
  });

  test('a new database runs as a user id of its own, and processes of nobody cannot reach its files', async () => {
    const fresh = join(folder, 'fresh');
    await using database = await openDatabase({ dataFolder: fresh, databaseUrl: undefined, account: runs });
    const place = join(openDataFolder(fresh).place, 'postgresql');
    assert.equal(statSync(`/proc/${database.embeddedPid}`).uid, ownUid);
    assert.deepEqual([...new Set(ownersIn(join(place, 'data')))], [`${ownUid} ${ownUid}`]);
    assert.match(tryAsNobody('cat', join(place, 'data', 'PG_VERSION')), /Permission denied/);
    assert.match(tryAsNobody('ls', String(database.address.host)), /Permission denied/);
    assert.match(tryAsNobody('readlink', '-v', `/proc/${database.embeddedPid}/cwd`), /Permission denied/);
    assert.match(tryAsNobody('kill', '-0', '--', String(database.embeddedPid)), /permitted/);
  });

  test('a user id that an account has is refused, unless the setting names it', async () => {
    await assert.rejects(
      open({ slotUidBase: nobody - 1, slotUidCount: 1 }),
      /cannot use the user id \d+: it belongs to the account nobody. Set ENVARIUM_DATABASE_UID/,
    );
  });

  test("a file of root's that has a second name in the database's folder keeps its owner", () => {
    const place = join(folder, 'linked');
    mkdirSync(place);
    writeFileSync(join(folder, 'secret'), 'of root', { mode: 0o600 });
    linkSync(join(folder, 'secret'), join(place, 'name'));
    execFileSync('chown', [String(nobody), place]);
    assert.throws(() => takeOver(place, { uid: ownUid, gid: ownUid }), /has a second name elsewhere/);
    assert.equal(lstatSync(join(folder, 'secret')).uid, 0);
    assert.equal(statSync(place).uid, 0, 'nobody is still kept out');
    rmSync(join(place, 'name'));
    takeOver(place, { uid: ownUid, gid: ownUid });
    assert.equal(statSync(place).uid, ownUid);
  });
});

test('a user id outside of the ids of a container is recognized', () => {
  assert.equal(isMapped(59_000, '         0          0 4294967295\n'), true);
  assert.equal(isMapped(59_000, '0 100000 59000\n'), false);
  assert.equal(isMapped(59_000, '0 100000 59000\n59000 1 1\n'), true);
});
