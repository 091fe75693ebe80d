/**
 * Environments that ask for a version of their tool which the machine does not have: fetched from a mirror,
 * kept, used without one.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { Client } from '#contract/client/client.ts';
import { covers } from '#contract/documents/coverage.ts';
import { scriptOf, startToolMirror, type ToolMirror } from '../agent/testing/tool-mirror.ts';
import { findProgram, terraform, withoutTerraform } from './programs.ts';
import {
  approveAndEnd,
  createEnvironment,
  deploy,
  deployNew,
  homeOf,
  stepLines,
  untilStatus,
} from './runs.ts';
import {
  makeRepository,
  type RunningService,
  removeScratch,
  scratchFolder,
  startService,
} from './service.ts';

const git = (await findProgram('git')) ?? '';
const password = 'opensesame';
const secret = randomBytes(32).toString('base64url');

async function setupLog(client: Client, deploymentId: string): Promise<string> {
  return (await stepLines(client, deploymentId, 'variables:setup')).map(({ message }) => message).join('\n');
}

describe('versions of tools', {
  skip: withoutTerraform || (git === '' && 'git is not on the PATH'),
}, () => {
  let folder: string;
  let mirror: ToolMirror;
  let version: string;

  /** A service whose PATH has git and no terraform. */
  async function start(settings: Record<string, string>): Promise<RunningService> {
    return startService({
      folder,
      settings: {
        PATH: join(folder, 'programs'),
        ENVARIUM_BOOTSTRAP_API_SECRET: secret,
        ...settings,
      },
    });
  }

  const withMirror = () =>
    start({
      ENVARIUM_TOOL_MIRROR_TERRAFORM: mirror.url.replace('//', `//reader:${password}@`),
      ENVARIUM_TOOL_MIRROR_KEY_TERRAFORM: join(folder, 'mirror.asc'),
    });

  before(async () => {
    folder = await scratchFolder();
    await mkdir(join(folder, 'programs'));
    await symlink(git, join(folder, 'programs', 'git'));
    const { stdout } = await promisify(execFile)(terraform ?? '', ['version', '-json'], {
      env: { CHECKPOINT_DISABLE: '1' },
    });
    version = (JSON.parse(stdout) as { terraform_version: string }).terraform_version;
    mirror = await startToolMirror(
      'terraform',
      [
        { version, content: await readFile(terraform ?? '') },
        { version: '0.13.7', content: scriptOf('0.13.7', terraform ?? '') },
        { version: '0.14.11', lie: 'other bytes' },
        { version: '0.15.5', lie: 'other key' },
        { version: '99.0.0-beta1' },
      ],
      { authorization: `Basic ${Buffer.from(`reader:${password}`).toString('base64')}` },
    );
    await writeFile(join(folder, 'mirror.asc'), mirror.publicKey);
  });

  after(async () => {
    await mirror?.[Symbol.asyncDispose]();
    await removeScratch(folder);
  });

  test('the requested version is downloaded, verified and used, and works later without the mirror', async () => {
    const code = await makeRepository(folder, 'versions', {
      'main.tf':
        'terraform {\n  required_version = "~> 0.13"\n}\nresource "terraform_data" "it" { input = "a" }\n',
      'any/main.tf': 'resource "terraform_data" "it" { input = "a" }\n',
    });
    let id: string;
    {
      await using service = await withMirror();
      const { client } = service;
      const home = await homeOf(client);
      const request = { repository: code.path, path: 'any' };
      const exact = await createEnvironment(client, home, {
        ...request,
        terraformVersion: version,
        requiresApproval: true,
      });
      id = exact.id;
      const deployed = await approveAndEnd(client, exact.deploymentId);
      assert.equal(deployed.status, 'SUCCESS');
      covers('createEnvironmentWithoutTemplate', 'body.terraformVersion');
      const lines = await setupLog(client, exact.deploymentId);
      assert.match(lines, /Checksum and signature are valid \(key [0-9A-F]{40}, Test Mirror/);
      assert.ok(lines.includes(`terraform ${version} (`), lines);
      const latest = await deployNew(client, home, { ...request, terraformVersion: 'latest' });
      assert.ok((await setupLog(client, latest.deploymentId)).includes(`terraform ${version} (`));
      const least = await createEnvironment(client, home, {
        repository: code.path,
        terraformVersion: 'RESOLVE_FROM_TERRAFORM_CODE',
        requiresApproval: true,
      });
      await untilStatus(client, least.deploymentId, 'FAILURE');
      const setup = await setupLog(client, least.deploymentId);
      assert.match(setup, /The code requires "~> 0\.13" \(main\.tf\)[^]*terraform 0\.13\.7 \(/);
      assert.equal(
        mirror.count(`terraform_${version}_linux_${process.arch === 'x64' ? 'amd64' : process.arch}.zip`),
        1,
      );
      for (const [lie, message] of [
        [
          '0.14.11',
          /terraform 0\.14\.11 \(requested by .*\) could not be obtained: .* does not match its checksum/,
        ],
        ['0.15.5', /could not be obtained: the signature .* was made by key .*; nothing was installed/],
        ['1.0.0', /has no terraform 1\.0\.0: .* answered with status 404/],
      ] as const) {
        const refused = await createEnvironment(client, home, { ...request, terraformVersion: lie });
        const { status, error } = await untilStatus(client, refused.deploymentId);
        assert.equal(status, 'FAILURE');
        assert.match(error?.message ?? '', message);
      }
      assert.doesNotMatch(`${service.log()}${lines}${setup}`, new RegExp(password));
    }
    const requestsBefore = mirror.requests.length;
    await using alone = await start({});
    const { client } = alone;
    const home = await homeOf(client);
    const again = await deploy(client, id, { userRequiresApproval: false });
    assert.equal((await untilStatus(client, again.id)).status, 'SUCCESS');
    const missing = await createEnvironment(client, home, {
      repository: code.path,
      path: 'any',
      terraformVersion: '1.0.0',
    });
    const { error } = await untilStatus(client, missing.deploymentId);
    assert.match(
      error?.message ?? '',
      /terraform 1\.0\.0 is requested .*, but this agent has .*\(tool cache\), and nothing is fetched here/,
    );
    assert.equal(mirror.requests.length, requestsBefore);
  });
});
