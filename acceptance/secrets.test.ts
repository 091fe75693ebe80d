/**
 * Secrets are planted in a run and then looked for everywhere: in the database, the folders, the replies, the
 * logs and the processes.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Client } from '#contract/client/client.ts';
import { covers } from '#contract/documents/coverage.ts';
import { allTables } from './database.ts';
import { type GitServer, makeBare, startGitServer } from './git-server.ts';
import { withoutTerraform } from './programs.ts';
import {
  createEnvironment,
  type Home,
  homeOf,
  openGate,
  stepLines,
  until,
  untilEnd,
  untilStatus,
  wholeLog,
} from './runs.ts';
import { makeRepository, type RunningService, scratchFolder, startService } from './service.ts';

const random = () => randomBytes(12).toString('hex');
const pem = Array.from({ length: 4 }, () => randomBytes(36).toString('base64'));

/** Source of each secret. */
const secrets = {
  environment: `env "${random()}" p@ss/+&=w'rd`,
  terraform: `tf-${random()}`,
  pem: `-----BEGIN KEY-----\n${pem.join('\n')}\n-----END KEY-----\n`,
  urlToken: `url-token-${random()}`,
  storedToken: `stored-token-${random()}`,
  output: `out-${random()}`,
} as const;

/** Every form in which one of them must be nowhere. */
const forms: readonly { readonly secret: string; readonly form: Buffer }[] = [
  ...Object.entries(secrets),
  ...pem.map((line, index) => [`line ${index} of pem`, line] as const),
].flatMap(([secret, value]) => {
  const json = JSON.stringify(value).slice(1, -1);
  const texts = [
    value,
    json,
    JSON.stringify(json).slice(1, -1),
    encodeURIComponent(value),
    Buffer.from(value).toString('base64'),
    Buffer.from(value).toString('hex'),
  ];
  return [...new Set(texts)].map((text) => ({ secret, form: Buffer.from(text) }));
});

const findings = (place: string, bytes: Buffer | string) => {
  const content = Buffer.from(bytes as string);
  return forms
    .filter(({ form }) => content.includes(form))
    .map(({ secret, form }) => `${secret} (${form.toString().slice(0, 12)}…) in ${place}`);
};

const configuration = `variable "password" {
  type      = string
  sensitive = true
}

resource "terraform_data" "holder" {
  input = var.password
}

resource "terraform_data" "made" {
  input = sensitive("${secrets.output}")
}

resource "terraform_data" "talker" {
  depends_on = [terraform_data.holder]
  provisioner "local-exec" {
    command = <<-EOT
      printf 'whole: %s\\n' "$SECRET"
      awk 'BEGIN { for (i = 0; i < 20000; i++) print "again: " ENVIRON["SECRET"] }'
      printf '%s' "$SECRET" | base64 -w0; echo
      printf 'user:%s' "$SECRET" | base64 -w0; echo
      printf 'url: '; cat url
      echo "$PEM"
      echo said everything
      until [ -e gate ]; do sleep 0.05; done
    EOT
  }
}

output "password" {
  value     = "<\${var.password}>"
  sensitive = true
}

output "made" {
  value     = terraform_data.made.output
  sensitive = true
}
`;

/** All files below a folder, without following links. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Environments and command lines of processes; a process that has ended since is empty. */
async function processes(): Promise<{ pid: string; command: Buffer; environment: Buffer }[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = (path: string) => readFile(path).catch(() => Buffer.alloc(0));
  return Promise.all(
    pids.map(async (pid) => ({
      pid,
      command: await read(`/proc/${pid}/cmdline`),
      environment: await read(`/proc/${pid}/environ`),
    })),
  );
}

describe('a secret', { skip: withoutTerraform }, () => {
  let folder: string;
  let server: GitServer;
  let other: GitServer;
  let service: RunningService;
  let client: Client;
  let home: Home;

  before(async () => {
    folder = await scratchFolder();
    const bare = join(folder, 'bare');
    await mkdir(bare);
    const { path } = await makeRepository(folder, 'talker', {
      'main.tf': configuration,
      url: `${encodeURIComponent(secrets.environment)}\n`,
    });
    await makeBare(path, join(bare, 'talker.git'));
    server = await startGitServer({ root: bare, user: 'reader', password: secrets.urlToken });
    other = await startGitServer({ root: bare, user: 'token', password: secrets.storedToken });
    service = await startService({
      folder,
      settings: { ENVARIUM_LOG_LEVEL: 'debug', ENVARIUM_GIT_HTTP_HOSTS: `${server.host},${other.host}` },
    });
    client = service.client;
    home = await homeOf(client);
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    await other?.[Symbol.asyncDispose]();
  });

  /**
   * Searches what belongs to the service, wherever it is, and separately for the secrets of the first key and
   * the agent.
   */
  const searchFolders = async () => {
    const found: string[] = [];
    for (const file of await filesBelow(join(folder, 'data'))) {
      // Content of the repository itself, in the tree that is kept for the apply.
      if (/\.planned-[^/]+\/tree\/(main\.tf|url)$/.test(file)) continue;
      const content = await readFile(file).catch(() => Buffer.alloc(0));
      found.push(...findings(relative(folder, file), content));
      const keeper = relative(join(folder, 'data'), file);
      if (content.includes(service.secret)) found.push(`the first key's secret in ${keeper}`);
      const agentSecret = (await readFile(join(folder, 'data', 'agent.secret'), 'utf8')).trim();
      if (keeper !== 'agent.secret' && content.includes(agentSecret))
        found.push(`the agent's secret in ${keeper}`);
    }
    return found;
  };
  const searchDatabase = async () => {
    const agentSecret = (await readFile(join(folder, 'data', 'agent.secret'), 'utf8')).trim();
    return (await allTables(service)).flatMap(({ table, bytes }) => [
      ...findings(`table ${table}`, bytes),
      ...[service.secret, agentSecret]
        .filter((secret) => bytes.includes(secret))
        .map(() => `a key's secret in table ${table}`),
    ]);
  };
  const searchReplies = async (id: string, deploymentId: string, templateId: string) => {
    const { organizationId } = home;
    const params = { id };
    const replies = [
      await client.call('getEnvironment', { params }),
      await client.call('listEnvironments'),
      await client.call('listDeployments', { params }),
      await client.call('getDeployment', { params: { id: deploymentId } }),
      await client.call('listDeploymentResources', { params: { id: deploymentId } }),
      await client.call('listSteps', { params: { deploymentLogId: deploymentId } }),
      await client.call('listStateVersions', { params }),
      await client.call('getTemplate', { params: { id: templateId } }),
      await client.call('listGitTokens', { query: { organizationId } }),
      await client.call('listAgents', { query: { organizationId } }),
    ];
    return findings('a reply', JSON.stringify(replies));
  };
  const searchProcesses = async () => {
    const ours = (command: Buffer) =>
      ['server.mjs', 'agent.mjs', 'postgres'].some((name) => command.includes(name));
    return (await processes()).flatMap(({ pid, command, environment }) => [
      ...findings(`the command line of ${pid}`, command),
      ...(ours(command)
        ? findings(`the environment of ${pid} (${command.toString().replaceAll('\0', ' ')})`, environment)
        : []),
      ...(ours(command) && environment.includes(service.secret)
        ? [`the first key's secret in the environment of ${pid}`]
        : []),
    ]);
  };
  const untilLogged = (deploymentId: string) =>
    until('the talker', async () => {
      const step = (await client.call('listSteps', { params: { deploymentLogId: deploymentId } })).find(
        ({ name }) => name === 'tf:apply',
      );
      return (
        step?.status === 'IN_PROGRESS' &&
        (await stepLines(client, deploymentId, 'tf:apply')).some(({ message }) =>
          message.includes('said everything'),
        )
      );
    });
  const variables = [
    { name: 'SECRET', value: secrets.environment, type: 0 as const, isSensitive: true },
    { name: 'PEM', value: secrets.pem, type: 0 as const, isSensitive: true },
    { name: 'password', value: secrets.terraform, type: 1 as const, isSensitive: true },
  ];

  test('a secret of a run is found nowhere, neither while it waits or runs nor afterwards', async () => {
    covers('createEnvironmentWithoutTemplate', 'body.configurationChanges', 'body.repository');
    covers('Deployment', 'output');
    const repository = `http://reader:${secrets.urlToken}@${server.host}/talker.git`;
    const { id, deploymentId, environment } = await createEnvironment(client, home, {
      repository,
      requiresApproval: true,
      configurationChanges: variables,
    });
    const search = async () => [
      ...(await searchDatabase()),
      ...(await searchFolders()),
      ...(await searchProcesses()),
      ...(await searchReplies(id, deploymentId, environment.blueprintId)),
      ...findings('the log of the service', service.log()),
    ];
    const planned = await untilStatus(client, deploymentId, 'WAITING_FOR_USER');
    assert.equal(planned.status, 'WAITING_FOR_USER', planned.error?.message);
    assert.equal(planned.planSummary?.added, 3);
    await until('the folders of the plan to be tidied up', async () =>
      (await readdir(join(folder, 'data', 'work'))).every(
        // A tree that is kept for its apply is searched, too.
        (name) => name.startsWith('.') || name.includes('.planned-'),
      ),
    );
    assert.deepEqual(await search(), []);
    assert.ok(
      (await allTables(service)).some(({ bytes }) => bytes.includes('talker.git')),
      'the search finds what is not a secret',
    );

    await client.call('approveDeployment', { params: { id: deploymentId } });
    await untilLogged(deploymentId);
    assert.deepEqual([...(await searchProcesses()), ...(await searchDatabase())], []);
    await openGate(service, id);
    const done = await untilEnd(client, deploymentId);
    assert.equal(done.output?.made?.sensitive, true);
    await until(
      'the spool to be tidied up',
      async () => (await readdir(join(folder, 'data', 'spool', 'attempts')).catch(() => [])).length === 0,
    );
    assert.deepEqual(await search(), []);

    const log = await wholeLog(client, deploymentId);
    assert.deepEqual(findings('the log', log), []);
    for (const word of [/whole: \*\*\*\n/, /url: \*\*\*\n/]) assert.match(log, word);
    assert.equal(log.match(/again: \*\*\*\n/g)?.length, 20_000, 'wherever the log is cut into pieces');
    assert.ok(!log.includes(Buffer.from(secrets.environment).toString('base64').slice(4, -4)), 'base64');
    assert.ok(
      !log.includes(Buffer.from(`user:${secrets.environment}`).toString('base64').slice(12, -4)),
      'base64 with something before it',
    );
    const state = Buffer.from(
      await client.bytes('getStateContent', { params: { id: done.stateVersionId ?? '' } }),
    );
    assert.ok(
      state.includes(secrets.terraform) && state.includes(secrets.output),
      'the state itself is whole for those who may read it',
    );
  });

  test("a repository's secret, as a token or in the address, is found nowhere", async () => {
    covers('createEnvironmentWithoutTemplate', 'body.tokenId');
    const token = await client.call('createGitToken', {
      body: { organizationId: home.organizationId, name: 'stored', value: secrets.storedToken },
    });
    const { id, deploymentId, environment } = await createEnvironment(client, home, {
      repository: `http://${other.host}/talker.git`,
      tokenId: token.id,
      configurationChanges: variables,
    });
    await untilLogged(deploymentId);
    await openGate(service, id);
    await untilEnd(client, deploymentId);
    assert.deepEqual(
      [
        ...(await searchDatabase()),
        ...(await searchFolders()),
        ...(await searchReplies(id, deploymentId, environment.blueprintId)),
        ...findings('the log', await wholeLog(client, deploymentId)),
        ...findings('the log of the service', service.log()),
      ],
      [],
    );
  });

  test('the secrets that open others are in files that only their owner can read', async () => {
    for (const name of ['sealing.key', 'agent.secret'])
      assert.equal((await stat(join(folder, 'data', name))).mode & 0o077, 0, name);
    for (const name of ['spool', 'blobs'])
      assert.equal((await stat(join(folder, 'data', name))).mode & 0o077, 0, name);
  });

  test('a wrong or missing sealing key, or a second service on the folder, is refused at start', async () => {
    await assert.rejects(
      startService({ folder }),
      (error: Error) =>
        /held|in use|another|already/i.test(error.message) &&
        error.message.includes(String(service.process.pid)),
    );
    await service.stop();
    const key = join(folder, 'data', 'sealing.key');
    const strange = await startService();
    await strange.stop();
    const strangeKey = join(strange.folder, 'data', 'sealing.key');
    await assert.rejects(
      startService({ folder, settings: { ENVARIUM_SEALING_KEY_FILE: strangeKey } }),
      /sealing key in .* does not belong to installation/,
    );
    await assert.rejects(
      startService({ folder, settings: { ENVARIUM_SEALING_KEY_FILE: `${key}.gone` } }),
      /sealing\.key\.gone/,
    );
    await strange[Symbol.asyncDispose]();
    service = await startService({ folder });
    assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
  });
});
