/** For tests: a folder is removed while a process that lives in it exchanges a part of it for a link. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { endProcessesOf } from '../../src/processes/end-processes.ts';
import { forceRemove, forceRemoveSync } from '../../src/slots/remove-folder.ts';
import { exchanging } from '../attacks.ts';

const uid = 58_994;
const exchangeSeconds = 30;

/** Removes such folders as root, with each of both functions. */
export async function removeExchanged(t: TestContext, times: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'removal-'));
  chmodSync(folder, 0o711);
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const target = join(folder, 'target');
  const kept = join(target, 'deep', 'kept');
  mkdirSync(join(target, 'deep'), { recursive: true });
  writeFileSync(kept, '');
  for (let count = 0; count < times; count++) {
    const root = join(folder, `run-${count}`);
    const tree = join(root, 'tree');
    mkdirSync(join(tree, 'own', 'deep'), { recursive: true, mode: 0o755 });
    for (let file = 0; file < 200; file++) writeFileSync(join(tree, 'own', 'deep', `kept-${file}`), '');
    symlinkSync(target, join(tree, 'link'));
    chownSync(tree, uid, uid);
    const [program, args] = exchanging('own', 'link', exchangeSeconds);
    const child = spawn(program, args, { uid, gid: uid, cwd: tree, stdio: 'ignore' });
    const end = once(child, 'exit');
    await once(child, 'spawn');
    chmodSync(root, 0o700);
    // It may well fail: the folder changes while it is removed.
    if (count % 2 === 0) await forceRemove(root).catch(() => undefined);
    else
      try {
        forceRemoveSync(root);
      } catch {}
    await endProcessesOf(uid);
    await end;
    assert.ok(existsSync(kept), `removed in try ${count + 1}`);
    forceRemoveSync(root);
  }
}
