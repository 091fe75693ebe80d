/** Runs terragrunt and Pulumi that the toolchain has downloaded, with the real runner and the real programs. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { type ToolboxName, toolboxProgram, withToolbox } from '../../../../tools/toolbox/places.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import { createSetup, type RunnerSetup } from '../../../testing/runner-setup.ts';
import { type Release, scriptOf, startToolMirror, type ToolMirror } from '../../../testing/tool-mirror.ts';
import { findProgram } from '../../processes/programs.ts';
import type { MirrorOrder, ToolchainOrder } from '../../toolchain/tool-mirror.ts';

const bytesOf = (name: ToolboxName): Buffer => readFileSync(toolboxProgram(name as 'pulumi') ?? '');

interface Toolchain {
  readonly order: ToolchainOrder;
  readonly mirrors: Readonly<Record<string, ToolMirror>>;
}

/** An empty cache, and a mirror of each program. */
async function toolchainOf(
  t: TestContext,
  { folder }: RunnerSetup,
  releases: Readonly<Record<string, readonly Release[]>>,
): Promise<Toolchain> {
  const mirrors: Record<string, ToolMirror> = {};
  const orders: Record<string, MirrorOrder> = {};
  for (const [program, all] of Object.entries(releases)) {
    const mirror = await startToolMirror(program, all);
    t.after(() => mirror[Symbol.asyncDispose]());
    mirrors[program] = mirror;
    orders[program] = { url: mirror.url, publicKey: mirror.publicKey };
  }
  const cacheFolder = join(folder, 'cache');
  mkdirSync(cacheFolder, { mode: 0o755 });
  return { order: { cacheFolder, cacheBytes: 4e9, mirrors: orders }, mirrors };
}

const git = findProgram('git') ?? '';

test(
  'terragrunt and what it runs are downloaded in the versions that template and code request, and kept',
  withToolbox('terragrunt', 'opentofu'),
  async (t) => {
    const setup = createSetup(t, {
      'root.hcl': 'terraform_version_constraint = "~> 1.12.0"\n',
      'live/app/terragrunt.hcl': 'include "root" {\n  path = find_in_parent_folders("root.hcl")\n}\n',
      'live/app/main.tf': 'output "it" { value = "good" }\n',
    });
    const tofu = { version: '1.12.6', content: bytesOf('opentofu') };
    const toolchain = await toolchainOf(t, setup, {
      terragrunt: [
        { version: '1.1.3', content: bytesOf('terragrunt') },
        { version: '0.99.0', content: scriptOf('0.99.0') },
      ],
      tofu: [tofu, { version: '1.13.0', content: scriptOf('1.13.0') }],
    });
    const toolPaths = { terragrunt: '', tofu: '', terraform: '', git };
    const job = (changes: Partial<Job> = {}) =>
      setup.job({
        tool: 'terragrunt',
        toolVersion: '1.1.3',
        settings: { opentofuVersion: 'RESOLVE_FROM_CODE' },
        source: { ...setup.job().source, path: 'live/app' },
        ...changes,
      });
    const order = { toolchain: toolchain.order };
    const planned = await expectResult('planned', setup.run(job(), { order, toolPaths }));
    assert.equal(planned.outcome.toolVersion, '1.1.3');
    const log = planned.log('variables:setup');
    assert.match(log, /^Fetching http:\S+\/terragrunt_\w+$/m);
    assert.match(log, /^Checksum is valid \(not signed by Gruntwork\)/m);
    assert.match(log, /^The code requires "~> 1\.12\.0" \(root\.hcl\)\.$/m);
    assert.match(log, /^tofu 1\.12\.6 \(\S+, from the tool cache\)$/m);
    assert.deepEqual(planned.outcome.approvedParts?.companions, { tofu: '1.12.6' });
    // Other requests at the same time.
    const apply = { ...setup.applyJob(planned), settings: { opentofuVersion: '1.13.0' } };
    const applied = await expectResult('applied', setup.run(apply, { order, toolPaths }));
    assert.match(applied.log('apply:prepare'), /^tofu 1\.12\.6 \(\S+, from the tool cache\)$/m);
    assert.equal(applied.outcome.outputs?.['it']?.value, 'good');

    const offline = { ...toolchain.order, mirrors: { terragrunt: null, tofu: null } };
    await expectResult('planned', setup.run(job(), { order: { toolchain: offline }, toolPaths }));
    const other = job({ toolVersion: '0.99.0' });
    const refused = await setup.run(other, { order: { toolchain: offline }, toolPaths });
    assert.match(
      failureMessageOf(refused),
      /^terragrunt 0\.99\.0 is requested by the environment's terragrunt version, but this agent has 1\.1\.3 \(tool cache\)/,
    );
  },
);

test(
  'Pulumi is downloaded with the host of its language, in the version that the project requires',
  withToolbox('pulumi', 'pulumi-language-yaml'),
  async (t) => {
    const setup = createSetup(t, {
      'Pulumi.yaml':
        'name: own\nruntime: yaml\nrequiredPulumiVersion: ">=3.200.0 <4.0.0"\noutputs:\n  it: good\n',
    });
    const others = { 'pulumi-language-yaml': bytesOf('pulumi-language-yaml') };
    const toolchain = await toolchainOf(t, setup, {
      pulumi: [
        { version: '3.259.0', content: bytesOf('pulumi'), others },
        { version: '3.100.0', content: scriptOf('3.100.0') },
        { version: '4.0.0', content: scriptOf('4.0.0') },
      ],
    });
    const order = { toolchain: toolchain.order };
    const toolPaths = { pulumi: '', 'pulumi-language-yaml': '', git };
    const passphrase = { name: 'PULUMI_CONFIG_PASSPHRASE', value: 'only here', isSensitive: true };
    const job = setup.job({
      tool: 'pulumi',
      toolVersion: 'RESOLVE_FROM_CODE',
      variables: { environment: [passphrase], terraform: [] },
      secrets: [passphrase.value],
    });
    const planned = await expectResult('planned', setup.run(job, { order, toolPaths }));
    assert.equal(planned.outcome.toolVersion, '3.259.0');
    assert.match(
      planned.log('variables:setup'),
      /^The code requires ">=3\.200\.0 <4\.0\.0" \(Pulumi\.yaml\)\.$/m,
    );
    const applied = await expectResult('applied', setup.run(setup.applyJob(planned), { order, toolPaths }));
    assert.equal(applied.outcome.outputs?.['it']?.value, 'good');
    assert.equal(toolchain.mirrors['pulumi']?.count('.tar.gz'), 1);
  },
);
