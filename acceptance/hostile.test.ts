/** A configuration that wants more than its own: what it may not read, write, end or leave behind, and that the service stays well. */
import assert from 'node:assert/strict';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Client } from '#contract/client.ts';
import { findProgram } from './programs.ts';
import { createEnvironment, deployNew, type Home, homeOf, stepLines, until, untilEnd, untilStatus, wholeLog } from './runs.ts';
import { type Files, makeRepository, type RunningService, scratchFolder, startService } from './service.ts';

const planted = 'planted-0a1b2c3d4e5f';

/** Says REACHED for everything that it should not have reached. */
const attack = `exec 2>/dev/null
id -u
grep NoNewPrivs /proc/self/status
try() {
  name=$1; shift
  if "$@" >/dev/null; then echo "REACHED $name"; else echo "tried $name"; fi
}
reads() { [ -n "$(cat "$1" | head -c 1)" ]; }
lists() { [ -n "$(ls -A "$1")" ]; }
env_of() { tr '\\0' '\\n' < "/proc/$1/environ" | grep -q .; }
for process in $SERVER $AGENT $RUNNER $VICTIM; do
  try "environment of $process" env_of $process
  try "folder of $process" ls "/proc/$process/cwd/"
  try "root of $process" ls "/proc/$process/root/"
  try "descriptors of $process" lists "/proc/$process/fd"
  try "end of $process" kill -9 $process
  try "stop of $process" kill -STOP $process
done
for entry in /proc/[0-9]*; do
  if tr '\\0' '\\n' < $entry/environ | grep -q ${planted}; then echo "REACHED a planted word in $entry"; fi
done
for file in sealing.key agent.secret installation.json spool/agent.json; do try "$file" reads "$DATA/$file"; done
for folder in . spool spool/attempts blobs work tools postgresql postgresql/data postgresql/socket; do
  try "list of $folder" lists "$DATA/$folder"
  try "write to $folder" touch "$DATA/$folder/left-here"
  try "rights of $folder" chmod 777 "$DATA/$folder"
done
try "socket" test -w "$DATA/postgresql/socket/.s.PGSQL.5432"
try "database" "$NODE" -e 'require("net").connect(process.argv[1]).on("connect", () => process.exit(0)).on("error", () => process.exit(1))' "$DATA/postgresql/socket/.s.PGSQL.5432"
try "work of another" reads "$DATA/work/$OTHER/tree/main.tf"
try "state of another" lists "$DATA/work/$OTHER/state"
try "home of another" touch "$DATA/work/$OTHER/home/left-here"
try "files of another" lists "$DATA/work/$OTHER"
try "bootstrap secret" reads "$DATA/../bootstrap.secret"
try "rights over its own folder" touch "$DATA/work/$ENVARIUM_ENVIRONMENT_ID/left-here"
try "what git reads" sh -c 'echo x >> "$0"' "$DATA/work/$ENVARIUM_ENVIRONMENT_ID/gitconfig"
for entry in /proc/[0-9]*; do
  if [ -O $entry ] && [ "$(cat $entry/comm)" = terraform ]; then
    try "the log, by its descriptor" reads $entry/fd/1
    try "the log's end" sh -c ': > '$entry/fd/1
  fi
done
echo attack over
`;

/** Processes that do not want to go: of another session, ignoring signals, forked twice. */
const stubborn = `setsid sh -c 'trap "" HUP INT TERM; while :; do sleep 7654.321; done' >/dev/null 2>&1 &
( ( setsid sleep 7654.321 >/dev/null 2>&1 & ) & )
nohup sleep 7654.321 >/dev/null 2>&1 &
sleep 0.2
id -u
`;

/** Links and pipes in the places of files that are read or written for the run. */
const traps = `cd "$DATA/work/$ENVARIUM_ENVIRONMENT_ID/tree" || exit 1
for name in errored.tfstate .terraform.lock.hcl envarium.auto.tfvars.json terraform.tfstate .terraform/terraform.tfstate .terraform/modules/modules.json; do
  mkdir -p "$(dirname $name)"; rm -f $name; ln -s "$TARGET" $name
done
cd ../state || exit 1
for file in $(find . -type f); do rm -f $file; ln -s "$TARGET" $file; done
`;
const pipes = `cd "$DATA/work/$ENVARIUM_ENVIRONMENT_ID/state" || exit 1
for file in $(find . -type f); do rm -f $file; mkfifo $file; (while :; do cat $file >/dev/null; done) >/dev/null 2>&1 & done
mkfifo ../tree/errored.tfstate
sleep 0.1
`;

const running = (script: string): Files => ({
  'script.sh': script,
  'main.tf':
    'resource "terraform_data" "first" { input = "kept" }\nresource "terraform_data" "it" {\n  depends_on = [terraform_data.first]\n  triggers_replace = [var.round]\n  provisioner "local-exec" { command = "sh ${path.module}/script.sh" }\n}\nvariable "round" { default = "one" }\n',
});

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly uid: number;
  readonly command: string;
}

async function processes(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      const number = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
      return { pid: Number(pid), parent: number('PPid'), uid: number('Uid'), command: command.replaceAll('\0', ' ') };
    }),
  );
  return found.filter(({ command }) => command !== '');
}

const reason =
  process.getuid?.() !== 0
    ? 'runs get users of their own only when the service is started as root'
    : (await findProgram('terraform'))
      ? false
      : 'terraform is not on the PATH';

describe('a hostile configuration', { skip: reason }, () => {
  let folder: string;
  let service: RunningService;
  let client: Client;
  let home: Home;

  before(async () => {
    folder = await scratchFolder();
    service = await startService({
      folder,
      settings: {
        ENVARIUM_LOG_LEVEL: 'warn',
        ENVARIUM_ABORT_SECONDS: '2',
        ENVARIUM_RUN_TIME_LIMIT_SECONDS: '40',
        PLANTED_IN_THE_SERVER: planted,
      },
    });
    client = service.client;
    home = await homeOf(client);
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const data = () => join(folder, 'data');
  const given = (values: Readonly<Record<string, string>>) =>
    Object.entries({ DATA: data(), ...values }).map(([name, value]) => ({ name, value, type: 0 as const }));
  const make = async (name: string, files: Files) => (await makeRepository(folder, name, files)).path;
  const isWell = async () => {
    assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
    const { deployment } = await deployNew(client, home, {
      repository: await make(`well-${Math.random()}`, { 'main.tf': 'resource "terraform_data" "it" {}\n' }),
    });
    assert.equal(deployment.resourceCount, 1);
  };

  test('reaches nothing of the service, of the agent, of the database and of another run', async () => {
    const gate = join(folder, 'victim-gate');
    const victim = await createEnvironment(client, home, {
      repository: await make('victim', running(`until [ -e ${gate} ]; do sleep 0.05; done\n`)),
      configurationChanges: [...given({}), { name: 'SECRET', value: `${planted}-of-the-victim`, type: 0, isSensitive: true }],
    });
    const shell = await until('the victim', async () =>
      (await processes()).find(({ command, uid }) => uid !== 0 && command.startsWith('sh ') && command.includes('script.sh')),
    );
    const all = await processes();
    const agent = all.find(({ parent, command }) => parent === service.process.pid && command.includes('agent/src/main.ts'));
    const terraform = all.find(({ pid }) => pid === shell.parent);
    const above = all.find(({ pid }) => pid === terraform?.parent && terraform !== undefined);
    const runner = all.find(({ pid }) => pid === (above?.command.includes('terraform') ? above.parent : above?.pid));
    assert.ok(agent && runner?.command.includes('runner/main.ts'), `agent ${agent?.pid}, runner ${runner?.command}`);
    const attacker = await createEnvironment(client, home, {
      repository: await make('attacker', running(attack)),
      configurationChanges: given({
        SERVER: String(service.process.pid),
        AGENT: String(agent.pid),
        RUNNER: String(runner?.pid),
        VICTIM: `${shell.pid} ${terraform?.pid}`,
        OTHER: victim.id,
        NODE: process.execPath,
      }),
    });
    const done = await untilStatus(client, attacker.deploymentId);
    const log = await wholeLog(client, attacker.deploymentId);
    assert.match(log, /attack over/, done.error?.message);
    assert.deepEqual(log.match(/REACHED.*/g) ?? [], []);
    assert.ok((log.match(/tried /g)?.length ?? 0) > 50);
    assert.match(log, /tried the log, by its descriptor/);
    assert.match(log, /NoNewPrivs:\s+1/);
    const [, uid] = /\(local-exec\):\S* \S*?(\d{4,})\n/.exec(log.replaceAll('\u001b[0m', '')) ?? [];
    assert.notEqual(Number(uid), shell.uid, 'each slot has a user of its own');
    assert.equal((await client.call('getDeployment', { params: { id: victim.deploymentId } })).status, 'IN_PROGRESS');
    await writeFile(gate, '');
    await untilEnd(client, victim.deploymentId);
    await isWell();
  });

  test('leaves no process behind', async () => {
    const { deploymentId } = await deployNew(client, home, { repository: await make('stubborn', running(stubborn)) });
    assert.deepEqual(
      (await processes()).filter(({ command }) => command.includes('7654.321')),
      [],
    );
    const uid = (await stepLines(client, deploymentId, 'tf:apply')).map(({ message }) => /(\d{4,})$/.exec(message)?.[1]).findLast(Boolean);
    assert.ok(uid);
    await isWell();
  });

  test('plants links that lead nobody to what is not its own, and the environment can be deployed again', async () => {
    const target = join(folder, 'target');
    await writeFile(target, JSON.stringify({ version: 4, serial: 999, lineage: planted, outputs: {}, resources: [] }), { mode: 0o600 });
    const before = { content: await readFile(target, 'utf8'), mode: (await stat(target)).mode };
    const script = '[ "$TRAPS" = no ] || sh "$(dirname "$0")/traps.sh"\n';
    const { id, deploymentId } = await createEnvironment(client, home, {
      repository: await make('traps', { ...running(script), 'traps.sh': traps }),
      configurationChanges: given({ TARGET: target }),
    });
    const end = await untilStatus(client, deploymentId);
    const log = await wholeLog(client, deploymentId);
    assert.ok(['SUCCESS', 'FAILURE', 'INTERNAL_FAILURE'].includes(end.status), end.status);
    assert.ok(!log.includes(planted) && !JSON.stringify(end).includes(planted));
    assert.deepEqual({ content: await readFile(target, 'utf8'), mode: (await stat(target)).mode }, before);
    for (const version of await client.call('listStateVersions', { params: { id } })) {
      assert.ok(!Buffer.from(await client.bytes('getStateContent', { params: { id: version.id } })).includes(planted));
    }
    const again = await client.call('deployEnvironment', {
      params: { id },
      body: {
        configurationChanges: [
          { name: 'TRAPS', value: 'no', type: 0 },
          { name: 'round', value: 'two', type: 1 },
        ],
      },
    });
    await untilEnd(client, again.id);
    await isWell();
  });

  test('puts pipes in the places of files, takes its own rights away and ends all that is its own, and the service stays well', async () => {
    for (const [name, script] of [
      ['pipes', pipes],
      [
        'rights',
        'cd "$DATA/work/$ENVARIUM_ENVIRONMENT_ID/tree" && mkdir -p deep/deeper && chmod -R 000 . 2>/dev/null; chmod 000 ../state ../home ../tmp\n',
      ],
      ['end', 'kill -9 -1\n'],
    ] as const) {
      const { id, deploymentId } = await createEnvironment(client, home, {
        repository: await make(name, running(`[ "$TRAPS" = no ] && exit 0\n${script}`)),
        configurationChanges: given({}),
      });
      const end = await untilStatus(client, deploymentId);
      assert.ok(['SUCCESS', 'FAILURE', 'INTERNAL_FAILURE', 'TIMEOUT'].includes(end.status), `${name}: ${end.status}`);
      const again = await client.call('deployEnvironment', {
        params: { id },
        body: {
          configurationChanges: [
            { name: 'TRAPS', value: 'no', type: 0 },
            { name: 'round', value: 'two', type: 1 },
          ],
        },
      });
      assert.equal((await untilStatus(client, again.id)).status, 'SUCCESS', name);
    }
    await isWell();
    await until('the spool to be empty', async () => (await readdir(join(data(), 'spool', 'attempts'))).length === 0);
  });
});
