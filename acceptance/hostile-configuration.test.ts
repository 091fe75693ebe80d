/**
 * A configuration that wants more than its own: what it may not read, write, end or leave behind, and that
 * the service stays well.
 */
import assert from 'node:assert/strict';
import { chown, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Client } from '#contract/client/client.ts';
import { ancestor, attack, pipes, planted, processes, running, stubborn, traps } from './attack.ts';
import { findProgram, withoutTerraform } from './programs.ts';
import {
  createEnvironment,
  deploy,
  deployAndEnd,
  deployNew,
  type Home,
  homeOf,
  openGate,
  stepLines,
  until,
  untilEnd,
  untilStatus,
  wholeLog,
} from './runs.ts';
import {
  type Files,
  makeRepository,
  ordinaryUid,
  type RunningService,
  scratchFolder,
  startService,
} from './service.ts';

const isRoot = process.getuid?.() === 0;

/** Why a service of this user cannot be tried here, or false. */
async function reasonAgainst(user: 'root' | 'ordinary'): Promise<string | false> {
  if (withoutTerraform) return withoutTerraform;
  if (user === 'root')
    return isRoot ? false : 'runs get users of their own only when the service is started as root';
  if ((await findProgram('bwrap')) === null) return 'bubblewrap is missing';
  return isRoot && (await findProgram('setpriv')) === null
    ? 'setpriv is missing, which starts the service as another user'
    : false;
}

/**
 * Names of its own work folder, and the providers that runs may only read: all that a sandbox shows of the
 * data folder.
 */
const ownNames = 'work|\\.providers|[0-9a-f-]{36}|tree|state|plan|home|tmp|gitconfig';

for (const user of ['root', 'ordinary'] as const)
  describe(`a hostile configuration of a service of ${user === 'root' ? 'root' : 'an ordinary user'}`, {
    skip: await reasonAgainst(user),
  }, () => {
    let folder: string;
    let service: RunningService;
    let client: Client;
    let home: Home;

    before(async () => {
      folder = await scratchFolder();
      service = await startService({
        folder,
        isOrdinary: user === 'ordinary',
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
    after(() => service?.[Symbol.asyncDispose]());

    const data = () => join(folder, 'data');
    const variables = (values: Readonly<Record<string, string>>) =>
      Object.entries({ DATA: data(), ...values }).map(([name, value]) => ({ name, value, type: 0 as const }));
    const make = async (name: string, files: Files) => (await makeRepository(folder, name, files)).path;
    const isWell = async () => {
      assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
      const { deployment } = await deployNew(client, home, {
        repository: await make(`well-${Math.random()}`, { 'main.tf': 'resource "terraform_data" "it" {}\n' }),
      });
      assert.equal(deployment.resourceCount, 1);
    };

    test('a hostile run reaches nothing of the service, the agent, the database or another run', async () => {
      const victim = await createEnvironment(client, home, {
        repository: await make('victim', running('until [ -e gate ]; do sleep 0.05; done\n')),
        configurationChanges: [
          ...variables({}),
          { name: 'SECRET', value: `${planted}-of-the-victim`, type: 0, isSensitive: true },
        ],
      });
      const shell = await until('the victim', async () =>
        (await processes()).find(
          ({ command, uid }) => uid !== 0 && command.startsWith('sh ') && command.includes('script.sh'),
        ),
      );
      const all = await processes();
      const agent = all.find(
        ({ parent, command }) => parent === service.process.pid && command.includes('agent.mjs'),
      );
      const terraform = all.find(({ pid }) => pid === shell.parent);
      const runner = ancestor(all, shell, ' runner');
      assert.ok(agent && runner, 'agent and runner are found');
      const mode = (await stat(data())).mode & 0o777;
      const attacker = await createEnvironment(client, home, {
        repository: await make('attacker', running(attack)),
        configurationChanges: variables({
          SERVER: String(service.process.pid),
          AGENT: String(agent.pid),
          RUNNER: String(runner.pid),
          VICTIM: `${shell.pid} ${terraform?.pid}`,
          OTHER: victim.id,
          NODE: process.execPath,
          OWN: ownNames,
          HAS_UID: user === 'root' ? 'yes' : '',
        }),
      });
      const done = await untilStatus(client, attacker.deploymentId);
      const log = await wholeLog(client, attacker.deploymentId);
      assert.match(log, /attack over/, done.error?.message);
      // A sandbox has a /tmp of its own, in which a scratch folder below /tmp is visible: what counts there is
      // the folder itself.
      const harmless = /REACHED (write to|rights of|rights over) /;
      assert.deepEqual(
        (log.match(/REACHED.*/g) ?? []).filter((line) => !harmless.test(line)),
        [],
      );
      assert.deepEqual(
        (await readdir(data(), { recursive: true })).filter((name) => name.endsWith('left-here')),
        [],
      );
      assert.equal((await stat(data())).mode & 0o777, mode);
      assert.ok((log.match(/tried /g)?.length ?? 0) > 50);
      if (user === 'root') assert.match(log, /tried the log, by its descriptor/);
      assert.match(log, /NoNewPrivs:\s+1/);
      const [, uid] = /\(local-exec\):\S* \S*?(\d{4,})\n/.exec(log.replaceAll('\u001b[0m', '')) ?? [];
      if (user === 'root') assert.notEqual(Number(uid), shell.uid, 'each slot has a user of its own');
      assert.equal(
        (await client.call('getDeployment', { params: { id: victim.deploymentId } })).status,
        'IN_PROGRESS',
      );
      await openGate(service, victim.id);
      await untilEnd(client, victim.deploymentId);
      await isWell();
    });

    test('a hostile run leaves no process behind', async () => {
      const { deploymentId } = await deployNew(client, home, {
        repository: await make('stubborn', running(stubborn)),
      });
      assert.deepEqual(
        (await processes()).filter(({ command }) => command.includes('7654.321')),
        [],
      );
      const uid = (await stepLines(client, deploymentId, 'tf:apply'))
        .map(({ message }) => /(\d{4,})$/.exec(message)?.[1])
        .findLast(Boolean);
      assert.ok(uid);
      await isWell();
    });

    test('no one follows the links of a hostile run to foreign files, and the environment can be deployed again', async () => {
      const target = join(folder, 'target');
      await writeFile(
        target,
        JSON.stringify({ version: 4, serial: 999, lineage: planted, outputs: {}, resources: [] }),
        { mode: 0o600 },
      );
      if (user === 'ordinary' && isRoot) await chown(target, ordinaryUid, ordinaryUid);
      const before = { content: await readFile(target, 'utf8'), mode: (await stat(target)).mode };
      const script = '[ "$TRAPS" = no ] || sh "$(dirname "$0")/traps.sh"\n';
      const { id, deploymentId } = await createEnvironment(client, home, {
        repository: await make('traps', { ...running(script), 'traps.sh': traps }),
        configurationChanges: variables({ TARGET: target }),
      });
      const end = await untilStatus(client, deploymentId);
      const log = await wholeLog(client, deploymentId);
      assert.ok(['SUCCESS', 'FAILURE', 'INTERNAL_FAILURE'].includes(end.status), end.status);
      assert.ok(!log.includes(planted) && !JSON.stringify(end).includes(planted));
      assert.deepEqual({ content: await readFile(target, 'utf8'), mode: (await stat(target)).mode }, before);
      for (const version of await client.call('listStateVersions', { params: { id } })) {
        assert.ok(
          !Buffer.from(await client.bytes('getStateContent', { params: { id: version.id } })).includes(
            planted,
          ),
        );
      }
      await deployAndEnd(client, id, {
        configurationChanges: [
          { name: 'TRAPS', value: 'no', type: 0 },
          { name: 'round', value: 'two', type: 1 },
        ],
      });
      await isWell();
    });

    test('a hostile run that replaces files by pipes, removes its own rights or kills its processes does not harm the service', async () => {
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
          configurationChanges: variables({}),
        });
        const end = await untilStatus(client, deploymentId);
        assert.ok(
          ['SUCCESS', 'FAILURE', 'INTERNAL_FAILURE', 'TIMEOUT'].includes(end.status),
          `${name}: ${end.status}`,
        );
        const again = await deploy(client, id, {
          configurationChanges: [
            { name: 'TRAPS', value: 'no', type: 0 },
            { name: 'round', value: 'two', type: 1 },
          ],
        });
        assert.equal((await untilStatus(client, again.id)).status, 'SUCCESS', name);
      }
      await isWell();
      await until(
        'the spool to be empty',
        async () => (await readdir(join(data(), 'spool', 'attempts'))).length === 0,
      );
    });
  });
