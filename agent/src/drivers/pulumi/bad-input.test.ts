/** Problems of code, variables, backends and programs in words, with the real runner and the real Pulumi. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import { pulumiFolder, withPulumi } from '../../../testing/pulumi/pulumi-folder.ts';
import { pulumiStage, type StageVariables } from '../../../testing/pulumi/pulumi-stage.ts';
import { onePage as program } from '../../../testing/pulumi/shop.ts';

async function problemOf(t: TestContext, files: Record<string, string>, variables: StageVariables = {}) {
  const { run, job } = pulumiStage(t, files, variables);
  return failureMessageOf(await run(job()));
}

const cases: readonly (readonly [
  what: string,
  files: Record<string, string>,
  variables: StageVariables,
  message: RegExp,
])[] = [
  [
    'a folder without a project',
    { 'README.md': '' },
    {},
    /there is no Pulumi\.yaml in the folder: the template's path must be/,
  ],
  [
    'a project without a name',
    { 'Pulumi.yaml': 'runtime: yaml\n' },
    {},
    /^Pulumi\.yaml must have the name of the project$/,
  ],
  [
    'a language without its host',
    { 'Pulumi.yaml': 'name: shop\nruntime: { name: unknownlanguage }\n' },
    {},
    /programs in unknownlanguage need pulumi-language-unknownlanguage next to pulumi or on the PATH/,
  ],
  [
    'a provider without a plugin',
    { 'Pulumi.yaml': program.replace('file:File', 'nowhere:File') },
    {},
    /install pulumi-resource-nowhere on the PATH of the agent's machine, or set PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION/,
  ],
  [
    'a value that no one has set',
    { 'Pulumi.yaml': program.replace('config:', 'config:\n  size: { type: integer }') },
    {},
    /missing configuration value 'size'.* add a variable of type 1 \(IaC input\) named size/,
  ],
  [
    'code that refers to nothing',
    { 'Pulumi.yaml': program.replace('${page.path}', '${pages.path}') },
    {},
    /"pages" could not be found \(Pulumi\.yaml, line 12\)/,
  ],
  [
    'a variable that would show secrets',
    { 'Pulumi.yaml': program },
    { environment: { PULUMI_OPTION_SHOW_SECRETS: 'true' } },
    /^PULUMI_OPTION_SHOW_SECRETS cannot be set/,
  ],
  [
    'a version that the project does not take',
    { 'Pulumi.yaml': `${program}requiredPulumiVersion: ">=99.0.0"\n` },
    {},
    /3\.259\.0.*>=99\.0\.0/s,
  ],
  [
    'no passphrase',
    { 'Pulumi.yaml': program },
    { hasNoPassphrase: true },
    /^PULUMI_CONFIG_PASSPHRASE is needed/,
  ],
  [
    'a file of a passphrase outside of the project',
    { 'Pulumi.yaml': program },
    { hasNoPassphrase: true, environment: { PULUMI_CONFIG_PASSPHRASE_FILE: '/etc/hostname' } },
    /^PULUMI_CONFIG_PASSPHRASE_FILE must be the path of a file in the folder of the project/,
  ],
];

for (const [what, files, variables, message] of cases)
  test(`${what} is named`, withPulumi, async (t) => {
    assert.match(await problemOf(t, files, variables), message);
  });

/** Another program in the place of Pulumi for its previews, the real one for all else. */
function pretended(folder: string, preview: string): Record<string, string> {
  const file = join(folder, 'pretended');
  const real = join(pulumiFolder(), 'pulumi');
  writeFileSync(file, `#!/bin/sh\ncase "$1" in preview) ${preview};; *) exec ${real} "$@";; esac\n`);
  chmodSync(file, 0o755);
  return { pulumi: file, 'pulumi-language-yaml': join(pulumiFolder(), 'pulumi-language-yaml') };
}

test('a preview that writes nothing or 100 MB ends the run', withPulumi, async (t) => {
  const { setup, run, job } = pulumiStage(t, { 'Pulumi.yaml': program });
  const silent = await expectResult('internal', run(job(), { toolPaths: pretended(setup.folder, 'exit 0') }));
  assert.match(silent.outcome.error?.message ?? '', /plan/);
  const real = join(pulumiFolder(), 'pulumi');
  const loud = pretended(setup.folder, `head -c 100000000 /dev/zero | tr '\\\\0' 'x'; exec ${real} "$@"`);
  const base = job();
  const cut = await run(
    { ...base, limits: { ...base.limits, stepLogBytes: 1_000_000 } },
    { toolPaths: loud },
  );
  assert.match(failureMessageOf(cut), /printed more than .*ENVARIUM_STEP_LOG_LIMIT_MB/);
});

test('a program that hangs is ended by the time limit, and the next run continues', withPulumi, async (t) => {
  const { setup, run, job, deploy, after } = pulumiStage(t, { 'Pulumi.yaml': program });
  const { applied } = await deploy();
  const { changes, options } = after(applied);
  const base = job(changes);
  const hung = await run(
    { ...base, limits: { ...base.limits, runSeconds: 3, abortSeconds: 1 } },
    { ...options, toolPaths: pretended(setup.folder, 'exec sleep 1000') },
  );
  assert.equal(hung.outcome.result, 'timed-out', JSON.stringify(hung.outcome));
  assert.match(hung.outcome.error?.message ?? '', /longer than 3 seconds.*ENVARIUM_RUN_TIME_LIMIT_SECONDS/);
  const next = await deploy({}, applied);
  assert.equal(next.planned.outcome.hasChanges, false);
  assert.equal(next.applied.outcome.result, 'applied', JSON.stringify(next.applied.outcome));
});
