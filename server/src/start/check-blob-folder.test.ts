import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startTests } from '../../testing/start.ts';
import { checkBlobFolder } from './check-blob-folder.ts';

const { app, sql } = await startTests();
const { db } = app.context;
const scratch = mkdtempSync(join(tmpdir(), 'blob-folder-'));
after(() => rmSync(scratch, { recursive: true }));
const markIn = (folder: string) => join(folder, 'installation-id');
await sql(
  "insert into installation (id, sealing_check) values (gen_random_uuid(), '') on conflict do nothing",
);

test('the first server marks the folder, others accept only that one, and its content may move', async () => {
  const [folder, other] = [join(scratch, 'first'), join(scratch, 'other')];
  await Promise.all([checkBlobFolder(db, folder), checkBlobFolder(db, folder)]);
  await checkBlobFolder(db, folder);
  const mark = readFileSync(markIn(folder), 'utf8');
  await assert.rejects(checkBlobFolder(db, other), (error: Error) => {
    assert.match(error.message, /ENVARIUM_BLOB_DIR/);
    assert.ok(error.message.includes(mark.trim()) && error.message.includes(markIn(other)));
    return true;
  });
  writeFileSync(markIn(folder), `${app.context.newId()}\n`);
  await assert.rejects(checkBlobFolder(db, folder), /contains/);
  writeFileSync(markIn(folder), mark);
  await checkBlobFolder(db, folder);
});

test('a start that ended between the mark and the database is completed by the next', async () => {
  await sql('update installation set blob_folder_id = null');
  const folder = join(scratch, 'first');
  const mark = readFileSync(markIn(folder), 'utf8').trim();
  await checkBlobFolder(db, folder);
  const rows = await sql('select blob_folder_id from installation');
  assert.deepEqual(rows, [{ blob_folder_id: mark }]);
});
