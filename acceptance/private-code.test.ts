/**
 * A private repository over ssh, with a submodule and a module over ssh: from the key that a person stores to
 * the resources.
 */
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { withoutTerraform } from './programs.ts';
import { approveAndEnd, createEnvironment, homeOf, until, untilEnd, wholeLog } from './runs.ts';
import { makeRepository, removeScratch, scratchFolder, startService } from './service.ts';
import { missingSshServer, startSshServer } from './ssh-server.ts';

const isRoot = process.getuid?.() === 0;
const reason = withoutTerraform || (await missingSshServer());

/** Whether any file below a folder contains a text. */
async function isStored(text: string, folder: string): Promise<boolean> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    // Files of a running service come and go.
    const content = await readFile(join(entry.parentPath, entry.name)).catch(() => null);
    if (content?.includes(text)) return true;
  }
  return false;
}

for (const user of isRoot ? (['root', 'ordinary'] as const) : (['ordinary'] as const))
  describe(`private code of a service of ${user === 'root' ? 'root' : 'an ordinary user'}`, {
    skip: reason,
  }, () => {
    test('code, submodules and modules are read over ssh, and no run can read the key', async () => {
      covers('createEnvironmentWithoutTemplate', 'body.sshKeys');
      await using ssh = await startSshServer();
      const folder = await scratchFolder();
      const knownHosts = join(folder, 'known_hosts');
      await writeFile(knownHosts, ssh.knownHosts);
      const network = await makeRepository(folder, 'network', {
        'network.json': '{"name":"from-submodule"}',
      });
      const names = await makeRepository(folder, 'names', {
        'tf/main.tf': 'output "name" {\n  value = "from-module"\n}\n',
      });
      const code = await makeRepository(folder, 'code', {
        'live/main.tf': `module "names" {
  source = "git::${ssh.address}${names.path}//tf?ref=main"
}
resource "terraform_data" "it" {
  input = "\${module.names.name} \${jsondecode(file("../parts/network/network.json")).name}"
}
output "both" {
  value = terraform_data.it.output
}
`,
        '.gitmodules': '[submodule "parts/network"]\n\tpath = parts/network\n\turl = ../network\n',
      });
      await code.git(
        'update-index',
        '--add',
        '--cacheinfo',
        `160000,${await network.git('rev-parse', 'HEAD')},parts/network`,
      );
      await code.git('commit', '--quiet', '--message', 'Add the network');
      try {
        await using service = await startService({
          folder,
          isOrdinary: isRoot && user === 'ordinary',
          settings: {
            ENVARIUM_LOG_LEVEL: 'warn',
            ENVARIUM_GIT_KNOWN_HOSTS_FILE: knownHosts,
            ENVARIUM_GIT_LOCAL_PATHS: '',
          },
        });
        const { client } = service;
        const home = await homeOf(client);
        const { organizationId } = home;
        const key = await client.call('createSshKey', {
          body: { organizationId, name: 'deploy', value: ssh.key },
        });
        assert.equal(key.value, '********');
        const request = { repository: `${ssh.address}${code.path}`, path: 'live', requiresApproval: true };
        const without = await createEnvironment(client, home, request);
        await assert.rejects(
          untilEnd(client, without.deploymentId),
          /requires an ssh key, and the environment has none for 127\.0\.0\.1/,
        );
        const { deploymentId } = await createEnvironment(client, home, {
          ...request,
          sshKeys: [{ id: key.id, name: key.name }],
        });
        const done = await approveAndEnd(client, deploymentId);
        assert.equal(done.output?.both?.value, 'from-module from-submodule');
        const body = ssh.key.split('\n')[1] ?? '';
        assert.doesNotMatch(await wholeLog(client, deploymentId), new RegExp(body.replaceAll('+', '\\+')));
        await until(
          'the key to be gone from the data folder',
          async () => !(await isStored(body, join(folder, 'data'))),
        );
      } finally {
        await removeScratch(folder);
      }
    });
  });
