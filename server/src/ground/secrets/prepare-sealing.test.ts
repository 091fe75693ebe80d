import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { testDatabase } from '../../../testing/database.ts';
import { prepareSealing } from '../../start/prepare-sealing.ts';

test('the first start creates the key, later ones need it, and another key is refused', async () => {
  await using database = await testDatabase();
  const dataFolder = mkdtempSync(join(tmpdir(), 'sealing '));
  try {
    const settings = { dataFolder, sealingKeyFile: undefined };
    const prepare = (named = settings as { dataFolder: string; sealingKeyFile: string | undefined }) =>
      prepareSealing(database.db, named, randomUUID);
    const place = { table: 't', row: 'r', field: 'f' };
    const first = await prepare();
    const sealed = first.sealer.seal('kept', place);
    const again = await prepare();
    assert.equal(again.installationId, first.installationId);
    assert.equal(again.sealer.open(sealed, place).toString(), 'kept');

    const file = join(dataFolder, 'sealing.key');
    renameSync(file, `${file}.away`);
    await assert.rejects(prepare(), /sealing\.key does not exist/);

    await using other = await testDatabase();
    const otherFile = join(dataFolder, 'other.key');
    await prepareSealing(other.db, { dataFolder, sealingKeyFile: otherFile }, randomUUID);
    await assert.rejects(
      prepare({ dataFolder, sealingKeyFile: otherFile }),
      (error: Error) => error.message.includes(otherFile) && error.message.includes(first.installationId),
    );
  } finally {
    rmSync(dataFolder, { recursive: true });
  }
});
