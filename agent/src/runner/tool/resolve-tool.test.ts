import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { toolboxProgram, withToolbox } from '../../../../tools/toolbox/places.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import {
  createSetup,
  type RunnerSetup,
  withBubblewrap,
  withTerraform,
} from '../../../testing/runner-setup.ts';
import { type Release, scriptOf, startToolMirror, type ToolMirror } from '../../../testing/tool-mirror.ts';
import { findProgram } from '../../processes/programs.ts';
import type { ToolchainOrder } from '../../toolchain/tool-mirror.ts';

const simple = 'resource "terraform_data" "one" { input = "a" }\n';
const git = findProgram('git') ?? '';
const terraform = findProgram('terraform') ?? '';
const noTerraform = { git, terraform: '' };

/** A wrapper of this machine's terraform that reports another version. */
function posing(version: string): Release {
  return { version, content: scriptOf(version, terraform) };
}

async function mirrorOf(t: TestContext, releases: readonly Release[]): Promise<ToolMirror> {
  const mirror = await startToolMirror('terraform', releases);
  t.after(() => mirror[Symbol.asyncDispose]());
  return mirror;
}

function toolchainOf(setup: RunnerSetup, mirror: ToolMirror | null, name = 'cache'): ToolchainOrder {
  const cacheFolder = join(setup.folder, name);
  mkdirSync(cacheFolder, { recursive: true, mode: 0o755 });
  const mirrors = { terraform: mirror === null ? null : { url: mirror.url, publicKey: mirror.publicKey } };
  return { cacheFolder, cacheBytes: 1e9, mirrors };
}

test('a run fetches the version that it requests, and applies with it', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': simple });
  const toolchain = toolchainOf(setup, await mirrorOf(t, [posing('1.11.9'), posing('1.12.1')]));
  const planned = await expectResult(
    'planned',
    setup.run(setup.job({ toolVersion: '1.11.9' }), { order: { toolchain } }),
  );
  assert.equal(planned.outcome.toolVersion, '1.11.9');
  const log = planned.log('variables:setup');
  assert.match(
    log,
    /^Fetching http:\/\/127\.0\.0\.1:\d+\/terraform\/1\.11\.9\/terraform_1\.11\.9_\S+\.zip$/m,
  );
  assert.match(log, /^Checksum and signature are valid \(key [0-9A-F]{40}, Test Mirror/m);
  assert.match(log, /^terraform 1\.11\.9 \(\S+\/terraform, from the tool cache\)$/m);
  const applied = await expectResult('applied', setup.run(setup.applyJob(planned), { order: { toolchain } }));
  assert.equal(applied.outcome.toolVersion, '1.11.9');
});

test('an apply elsewhere fetches the version that planned', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': simple });
  const mirror = await mirrorOf(t, [posing('1.11.9')]);
  const planned = await setup.run(setup.job({ toolVersion: 'latest' }), {
    order: { toolchain: toolchainOf(setup, mirror) },
    toolPaths: noTerraform,
  });
  mirror.add(posing('1.12.1'));
  const elsewhere = toolchainOf(setup, mirror, 'another-cache');
  const applied = await setup.run(setup.applyJob(planned, { onOtherMachine: true }), {
    order: { toolchain: elsewhere },
  });
  assert.equal(applied.outcome.result, 'applied', JSON.stringify(applied.outcome.error));
  assert.equal(applied.outcome.toolVersion, '1.11.9');
  assert.match(applied.log('apply:prepare'), /^Fetching .*1\.11\.9/m);
  const again = await setup.run(setup.job({ toolVersion: '1.11.9' }), { order: { toolchain: elsewhere } });
  rmSync(join(elsewhere.cacheFolder, 'releases'), { recursive: true });
  const continued = await expectResult(
    'applied',
    setup.run(setup.applyJob(again), { order: { toolchain: elsewhere } }),
  );
  assert.equal(continued.steps()['apply:prepare'], 'SUCCESS');
});

test('the lowest version that the code accepts is chosen', withTerraform, async (t) => {
  const setup = createSetup(t, {
    'main.tf': `terraform {\n  required_version = "~> 1.10"\n}\n${simple}`,
    'more.tf': 'terraform {\n  required_version = "!= 1.10.1"\n}\n',
  });
  const toolchain = toolchainOf(
    setup,
    await mirrorOf(t, [
      posing('1.9.8'),
      posing('1.10.1'),
      posing('1.10.2'),
      posing('1.12.1'),
      posing('2.0.0'),
    ]),
  );
  const job = setup.job({ toolVersion: 'RESOLVE_FROM_TERRAFORM_CODE' });
  const planned = await setup.run(job, { order: { toolchain } });
  assert.equal(planned.outcome.toolVersion, '1.10.2', JSON.stringify(planned.outcome.error));
  assert.match(
    planned.log('variables:setup'),
    /The code requires "~> 1\.10" \(main\.tf\) and "!= 1\.10\.1" \(more\.tf\)/,
  );
  setup.commit({ 'more.tf': 'terraform {\n  required_version = "> 3"\n}\n' });
  const refused = await setup.run(setup.job({ toolVersion: 'RESOLVE_FROM_TERRAFORM_CODE' }), {
    order: { toolchain },
  });
  assert.match(
    failureMessageOf(refused),
    /^No terraform meets what the code requires, "~> 1\.10" \(main\.tf\) and "> 3" \(more\.tf\): this agent has 1\.11\.4/,
  );
  assert.equal(refused.outcome.failedCommand, 'terraform');
});

test(
  "opentofu's version comes from its own files, its own variable and its own mirror",
  withToolbox('opentofu'),
  async (t) => {
    const setup = createSetup(t, {
      'main.tf': `terraform {\n  required_version = "~> 1.5.0"\n}\n${simple}`,
      'main.tofu': `terraform {\n  required_version = ">= 1.8.2"\n}\n${simple}`,
    });
    const tofu = toolboxProgram('opentofu') ?? '';
    const releases = ['1.8.1', '1.8.2', '1.12.0'].map((version) => ({
      version,
      content: scriptOf(version, tofu),
    }));
    const mirror = await startToolMirror('tofu', releases);
    t.after(() => mirror[Symbol.asyncDispose]());
    const mirrors = { terraform: null, tofu: { url: mirror.url, publicKey: mirror.publicKey } };
    const toolchain = { ...toolchainOf(setup, null), mirrors };
    const options = { order: { toolchain }, toolPaths: { git, tofu: '' } };
    const planned = await setup.run(
      setup.job({ tool: 'opentofu', toolVersion: 'RESOLVE_FROM_CODE' }),
      options,
    );
    assert.equal(planned.outcome.toolVersion, '1.8.2', JSON.stringify(planned.outcome.error));
    await expectResult('applied', setup.run(setup.applyJob(planned), options));
    const variables = {
      environment: [{ name: 'ENVARIUM_OPENTOFU_VERSION', value: '1.12.0', isSensitive: false }],
      terraform: [],
    };
    assert.equal(
      (await setup.run(setup.job({ tool: 'opentofu', variables, toolVersion: '1.8.1' }), options)).outcome
        .toolVersion,
      '1.12.0',
    );
  },
);

test(
  'a version file precedes the settings of the environment, and a variable precedes both',
  withTerraform,
  async (t) => {
    const code = `terraform {\n  required_version = ">= 1.10, < 1.12"\n}\n${simple}`;
    const setup = createSetup(t, { 'live/main.tf': code, '.terraform-version': 'latest-allowed\n' });
    const toolchain = toolchainOf(setup, await mirrorOf(t, ['1.10.2', '1.11.9', '1.12.0'].map(posing)));
    const run = (version: string) => {
      const variables = { ENVARIUM_RESOLVE_FILE_VERSION_RECURSIVELY: 'true', ENVARIUM_TF_VERSION: version };
      const environment = Object.entries(variables).map(([name, value]) => ({
        name,
        value,
        isSensitive: false,
      }));
      const job = setup.job({ variables: { environment, terraform: [] }, toolVersion: '1.9.8' });
      return setup.run(
        { ...job, source: { ...job.source, path: 'live' } },
        { order: { toolchain }, toolPaths: noTerraform },
      );
    };
    const byFile = await run('');
    assert.equal(byFile.outcome.toolVersion, '1.11.9', JSON.stringify(byFile.outcome.error));
    assert.match(
      byFile.log('variables:setup'),
      /^The version of terraform is requested by the file \.terraform-version$/m,
    );
    assert.equal((await run('1.10.2')).outcome.toolVersion, '1.10.2');
    setup.commit({ '.terraform-version': '~> 1.10\n' });
    const refused = await run('');
    assert.match(
      failureMessageOf(refused),
      /^the file \.terraform-version contains "~> 1\.10", which is not a version: use/,
    );
    assert.equal(refused.steps()['variables:setup'], 'FAIL');
  },
);

test('without network the cache is used, and missing versions are reported', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': simple });
  const mirror = await mirrorOf(t, [posing('1.11.9')]);
  await setup.run(setup.job({ toolVersion: '1.11.9' }), { order: { toolchain: toolchainOf(setup, mirror) } });
  const requests = mirror.requests.length;
  const offline = toolchainOf(setup, null);
  const planned = await setup.run(setup.job({ toolVersion: 'latest' }), {
    order: { toolchain: offline },
    toolPaths: noTerraform,
  });
  assert.equal(planned.outcome.toolVersion, '1.11.9');
  assert.match(
    planned.log('variables:setup'),
    /^The index of terraform versions is unreachable: the newest on the agent's PATH or in its cache counts as the latest\.$/m,
  );
  const refused = await setup.run(setup.job({ toolVersion: '1.10.0' }), {
    order: { toolchain: offline },
    toolPaths: noTerraform,
  });
  assert.match(
    failureMessageOf(refused),
    /terraform 1\.10\.0 is requested by the environment's terraform version, but this agent has 1\.11\.9 \(tool cache\), and nothing is fetched here/,
  );
  assert.equal(mirror.requests.length, requests);
});

test(
  'a program that reports another version than it was published as is refused',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, { 'main.tf': simple });
    const toolchain = toolchainOf(
      setup,
      await mirrorOf(t, [
        { version: '1.11.9', content: scriptOf('1.2.3') },
        { version: '1.11.8', content: Buffer.from('no program') },
      ]),
    );
    const other = await setup.run(setup.job({ toolVersion: '1.11.9' }), { order: { toolchain } });
    assert.match(failureMessageOf(other), /was published as terraform 1\.11\.9 but reports version 1\.2\.3/);
    await expectResult('failed', setup.run(setup.job({ toolVersion: '1.11.8' }), { order: { toolchain } }));
  },
);

test('an abort ends a fetch and leaves nothing in the cache', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': simple });
  const mirror = await mirrorOf(t, [{ ...posing('1.11.9'), lie: 'slow' }]);
  const toolchain = toolchainOf(setup, mirror);
  const running = setup.start(setup.job({ toolVersion: '1.11.9' }), { order: { toolchain } });
  await running.until(() => mirror.count('.zip') === 1, 'a request for the archive');
  running.abort('gently');
  const { steps } = await expectResult('aborted', running.ended);
  assert.equal(steps()['variables:setup'], 'CANCELLED');
  assert.deepEqual(readdirSync(join(toolchain.cacheFolder, 'releases')), []);
});

test('a run in a sandbox sees the tool that was fetched, and cannot change it', withBubblewrap, async (t) => {
  const setup = createSetup(t, { 'main.tf': simple }, { asOrdinaryUser: true });
  const toolchain = toolchainOf(setup, await mirrorOf(t, [posing('1.11.9')]));
  const planned = await expectResult(
    'planned',
    setup.run(setup.job({ toolVersion: '1.11.9' }), { order: { toolchain } }),
  );
  assert.equal(planned.outcome.toolVersion, '1.11.9');
});
