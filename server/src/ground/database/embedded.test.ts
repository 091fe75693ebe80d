import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { until } from '../../../../tools/suite/until.ts';
import { openDataFolder } from '../config/data-folder.ts';
import { EmbeddedPostgres } from './embedded.ts';
import { type Database, openDatabase } from './open.ts';

const isRoot = process.getuid?.() === 0;
const settingsFor = (dataFolder: string) => ({ dataFolder, databaseUrl: undefined });

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}/cwd`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
}

function worksIn(pid: number, folder: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === folder;
  } catch {
    return false;
  }
}

describe('the embedded PostgreSQL', () => {
  let folder: string;
  let data: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'embedded test '));
    if (isRoot) chmodSync(folder, 0o711);
    data = join(folder, "da,ta 's");
  });
  after(() => rmSync(folder, { recursive: true }));

  const dataFolder = () => join(openDataFolder(data).place, 'postgresql', 'data');

  async function withDatabase(work: (database: Database) => Promise<void>): Promise<void> {
    await using database = await openDatabase(settingsFor(data));
    await work(database);
  }

  test('the database starts after a killed first start, keeps what was written, and stops with the service', async () => {
    const left = join(openDataFolder(data).place, 'postgresql', 'data.new');
    mkdirSync(left, { recursive: true });
    writeFileSync(join(left, 'half'), '');
    let pid = 0;
    await withDatabase(async ({ pool, embeddedPid }) => {
      pid = embeddedPid ?? 0;
      await pool.query('create table kept (number bigint)');
      await pool.query('insert into kept values (9007199254740991)');
      assert.equal(isAlive(pid), true);
    });
    assert.equal(isAlive(pid), false);
    await withDatabase(async ({ pool }) => {
      const { rows } = await pool.query('select number, count(*) over () as rows from kept');
      assert.deepEqual(rows, [{ number: 9007199254740991, rows: 1 }]);
    });
  });

  test('the database listens on a socket that other users cannot reach, and not on a port', async () => {
    await withDatabase(async ({ pool, address, embeddedPid }) => {
      assert.equal((await pool.query('show listen_addresses')).rows[0].listen_addresses, '');
      assert.equal((await pool.query('show fsync')).rows[0].fsync, 'on');
      assert.equal(statSync(String(address.host)).mode & 0o777, 0o700);
      assert.equal(statSync(`/proc/${embeddedPid}`).uid !== 0, true);
      if (!isRoot) return;
      const script =
        'require("net").connect(process.argv[1]).on("error", (e) => console.log(e.code)).on("connect", () => process.exit(1))';
      const other = spawnSync(
        '/usr/bin/env',
        ['-i', process.execPath, '-e', script, join(String(address.host), '.s.PGSQL.5432')],
        {
          uid: 58_999,
          gid: 58_999,
          encoding: 'utf8',
          cwd: '/',
        },
      );
      assert.match(other.stdout, /EACCES/, other.stderr);
    });
  });

  test('the database outlives a killed service, and the next service finds it instead of starting another', async () => {
    const script = `
      const { openDatabase } = await import(process.argv[1]);
      const { pool, embeddedPid } = await openDatabase({ dataFolder: process.argv[2], databaseUrl: undefined });
      await pool.query('insert into kept values (2)');
      console.log(embeddedPid);
      setInterval(() => {}, 1000);`;
    const service = spawn(
      process.execPath,
      ['--input-type=module', '-e', script, new URL('open.ts', import.meta.url).href, data],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        detached: true,
      },
    );
    const [line] = (await Promise.race([once(service.stdout, 'data'), once(service, 'exit')])) as [Buffer];
    const pid = Number(line.toString());
    process.kill(-(service.pid ?? 0), 'SIGKILL');
    await once(service, 'exit');
    assert.equal(isAlive(pid), true);
    await withDatabase(async ({ pool, embeddedPid }) => {
      assert.equal(embeddedPid, pid);
      assert.equal((await pool.query('select count(*) from kept where number = 2')).rows[0].count, 1);
    });
    assert.equal(isAlive(pid), false);
  });

  test('lock files of a machine that was switched off do not keep it from starting, whichever processes have their ids now', async () => {
    let socketFolder = '';
    await withDatabase(async ({ address }) => {
      socketFolder = String(address.host);
    });
    const { uid, gid } = statSync(socketFolder);
    const other = spawn('sleep', ['60'], isRoot ? { uid, gid, cwd: '/' } : { cwd: '/' });
    try {
      const lock = join(socketFolder, '.s.PGSQL.5432.lock');
      const text = `${other.pid}\n${dataFolder()}\n0\n5432\n${socketFolder}\n`;
      for (const file of [lock, join(dataFolder(), 'postmaster.pid')]) {
        writeFileSync(file, text);
        if (isRoot) chownSync(file, uid, gid);
      }
      await withDatabase(async ({ pool }) => {
        assert.equal((await pool.query('select 1 as one')).rows[0].one, 1);
      });
    } finally {
      other.kill();
    }
  });

  test('a killed database is started again with everything that was committed', async () => {
    await withDatabase(async (database) => {
      const pid = database.embeddedPid ?? 0;
      await database.pool.query('insert into kept values (3)');
      process.kill(pid, 'SIGKILL');
      await until('a new server process', async () => {
        const found = await database.pool
          .query('select count(*) from kept where number = 3')
          .catch(() => undefined);
        return found?.rows[0].count === 1 && database.embeddedPid !== pid;
      });
    });
  });

  test('a killed database is started again even while one of its processes is in the middle of a statement', async () => {
    await withDatabase(async (database) => {
      const pid = database.embeddedPid ?? 0;
      const busy = await database.pool.connect();
      const ended = assert.rejects(
        busy.query('select count(*) from generate_series(1, 10000000000::bigint) as n'),
      );
      await until('the statement', async () => {
        const { rows } = await database.pool.query(
          "select count(*) from pg_stat_activity where state = 'active' and query like '%generate_series%' and pid <> pg_backend_pid()",
        );
        return rows[0].count === 1;
      });
      process.kill(pid, 'SIGKILL');
      await until('a new server process', async () => {
        const found = await database.pool.query('select 1').catch(() => undefined);
        return found?.rowCount === 1 && database.embeddedPid !== pid;
      });
      await ended;
      busy.release(true);
    });
  });

  test('a service that ends while its killed database is being started again ends the new one, too', async () => {
    const exited = Promise.withResolvers<void>();
    const log = { warn: () => exited.resolve(), error: () => undefined };
    const database = await openDatabase(settingsFor(data), log);
    process.kill(database.embeddedPid ?? 0, 'SIGKILL');
    await exited.promise;
    await database[Symbol.asyncDispose]();
    const working = readdirSync('/proc').filter(
      (pid) => /^\d+$/.test(pid) && isAlive(Number(pid)) && worksIn(Number(pid), dataFolder()),
    );
    assert.deepEqual(working, []);
  });

  test('a killed database is started again by a service that had adopted it', async () => {
    const first = await openDatabase(settingsFor(data));
    await using second = await openDatabase(settingsFor(data));
    assert.equal(second.embeddedPid, first.embeddedPid);
    await first[Symbol.asyncDispose]();
    await until(
      'a new server process',
      async () => (await second.pool.query('select 1').catch(() => undefined))?.rowCount === 1,
    );
    assert.notEqual(second.embeddedPid, null);
  });

  test('the service is not misled by another process with the same process id', async () => {
    const pidFile = join(openDataFolder(data).place, 'postgresql', 'data', 'postmaster.pid');
    writeFileSync(pidFile, `${process.pid}\n/elsewhere\n1\n5432\n/elsewhere\n\n0 0\nready   \n`);
    await withDatabase(async ({ pool, embeddedPid }) => {
      assert.notEqual(embeddedPid, process.pid);
      assert.equal((await pool.query('select 1 as one')).rows[0].one, 1);
    });
  });

  test('a folder of another major version is refused', async () => {
    const file = join(openDataFolder(data).place, 'postgresql', 'data', 'PG_VERSION');
    const version = readFileSync(file, 'utf8');
    writeFileSync(file, '17\n');
    await assert.rejects(openDatabase(settingsFor(data)), /made by PostgreSQL 17; .* set DATABASE_URL/);
    writeFileSync(file, version);
  });
});

test('a path with shell characters is refused', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'shell '));
  await assert.rejects(EmbeddedPostgres.open(join(folder.path, 'x$(id)')), /dollar sign/);
});

test('a path too long for a socket, or below a private home, works, too, and leaves nothing behind', async () => {
  const home = mkdtempSync(join(tmpdir(), 'private home '));
  const data = join(home, 'long '.repeat(30), 'data');
  const { place } = openDataFolder(data);
  const listed = (): string[] =>
    readdirSync(isRoot ? '/run' : '/tmp').filter((name) => name.startsWith('envarium-'));
  const earlier = listed();
  try {
    if (isRoot) assert.match(place, /^\/var\/lib\/envarium\/[0-9a-f-]{36}$/);
    await using database = await openDatabase(settingsFor(data));
    assert.ok(String(database.address.host).length < 100);
    assert.equal((await database.pool.query('select 1 as one')).rows[0].one, 1);
  } finally {
    rmSync(place, { recursive: true, force: true });
    rmSync(home, { recursive: true, force: true });
  }
  assert.deepEqual(
    listed().filter((name) => !earlier.includes(name)),
    [],
  );
});
