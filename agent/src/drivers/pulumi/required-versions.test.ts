import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { test } from 'node:test';
import { programFacts } from '#protocol/tools/index.ts';
import { temporaryFolder } from '../../../../tools/suite/temporary-folder.ts';
import { toolboxProgram, withToolbox } from '../../../../tools/toolbox/places.ts';
import { requiredVersions } from './required-versions.ts';

function reading(files: Readonly<Record<string, string>>) {
  return requiredVersions({
    list: async () => Object.keys(files),
    text: async (name: string) => files[name] ?? null,
  });
}

const project = (required: string) =>
  `name: own\nruntime: yaml\nrequiredPulumiVersion: ${JSON.stringify(required)}\n`;

const ranges = [
  ...['>=3.0.0', '<3.0.0', '3.x', '4.x', '>=9.0.0 || 3.x', '>=3.0.0 <3.1.0', '>= 3.1.0'],
  ...['!=3.1.0', '!3.1.0', '==3.1.0', '^3.1.0', '>=3.1', '>=3.0.0,<4.0.0', 'v3.1.0', '3'],
];

test(
  'a range means what it means to the real pulumi',
  withToolbox('pulumi', 'pulumi-language-yaml'),
  async (t) => {
    const folder = temporaryFolder(t, 'pulumi-');
    const program = toolboxProgram('pulumi')!;
    const env = {
      PATH: [dirname(toolboxProgram('pulumi-language-yaml')!), '/usr/bin', '/bin'].join(delimiter),
      HOME: folder,
      PULUMI_HOME: join(folder, 'home'),
      PULUMI_BACKEND_URL: `file://${folder}`,
      PULUMI_CONFIG_PASSPHRASE: 'only here',
      PULUMI_SKIP_UPDATE_CHECK: 'true',
    };
    const run = (...args: string[]) =>
      spawnSync(program, [...args, '--non-interactive'], { cwd: folder, env, encoding: 'utf8' });
    const { versionArguments, readVersion } = programFacts('pulumi')!;
    const version = readVersion(execFileSync(program, versionArguments, { env, encoding: 'utf8' }));
    writeFileSync(join(folder, 'Pulumi.yaml'), project(''));
    run('stack', 'init', 'one');
    for (const range of [...ranges, `!=${version}`, `=${version}`]) {
      const text = project(range);
      writeFileSync(join(folder, 'Pulumi.yaml'), text);
      const { stderr } = run('preview', '--stack', 'one');
      const says = /parsing CLI version range/.test(stderr) ? 'invalid' : !/does not satisfy/.test(stderr);
      const [required] = await reading({ 'Pulumi.yaml': text });
      const meets = () => required?.meets?.(version);
      if (says === 'invalid') assert.throws(meets, /is not a condition for a version/, range);
      else assert.equal(meets(), says, `${range}: ${stderr}`);
    }
  },
);

test('a project without a range requires nothing, and anything else than a text is refused', async () => {
  assert.deepEqual(await reading({}), []);
  assert.deepEqual(await reading({ 'Pulumi.yaml': 'name: own\nruntime: yaml\n' }), []);
  assert.deepEqual(await reading({ 'Pulumi.yaml': project('') }), []);
  await assert.rejects(reading({ 'Pulumi.yaml': 'requiredPulumiVersion: 3\n' }), /must be a text such as/);
  await assert.rejects(
    reading({ 'Pulumi.yaml': 'requiredPulumiVersion: {\n' }),
    /^Error: Pulumi\.yaml does not parse/,
  );
});
