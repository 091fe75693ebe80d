/** Facts about programs, compared with the real ones. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { programFacts } from '#protocol/tools/index.ts';
import {
  pythonProgram,
  skipUnlessRequired,
  toolboxProgram,
  withToolbox,
} from '../../../tools/toolbox/places.ts';
import { createFinder } from '../../testing/toolchain/tool-finder.ts';
import { findProgram } from '../processes/programs.ts';

const kubectl = findProgram('kubectl');

const programs = [
  { name: 'helm', options: withToolbox('helm'), path: () => toolboxProgram('helm') },
  { name: 'kustomize', options: withToolbox('kustomize'), path: () => toolboxProgram('kustomize') },
  {
    name: 'kubectl',
    options: kubectl === null ? skipUnlessRequired('needs kubectl: install it') : {},
    path: () => kubectl,
  },
  { name: 'infracost', options: withToolbox('infracost'), path: () => toolboxProgram('infracost') },
  { name: 'terragrunt', options: withToolbox('terragrunt'), path: () => toolboxProgram('terragrunt') },
  { name: 'pulumi', options: withToolbox('pulumi'), path: () => toolboxProgram('pulumi') },
  { name: 'ansible-playbook', options: withToolbox('ansible'), path: () => pythonProgram('ansible') },
  {
    name: 'ansible-galaxy',
    options: withToolbox('ansible'),
    path: () => pythonProgram('ansible', 'ansible-galaxy'),
  },
];

function reported(name: string, path: string): string {
  const { versionArguments, readVersion } = programFacts(name)!;
  const env = { PATH: '/usr/bin:/bin', HOME: '/nowhere', TMPDIR: '/tmp' };
  return readVersion(execFileSync(path, versionArguments, { encoding: 'utf8', env }));
}

for (const { name, options, path } of programs)
  test(`the version that the real ${name} reports is read`, options, async (t) => {
    const version = reported(name, path()!);
    assert.match(version, /^\d+\.\d+\.\d+$/);
    if (programFacts(name)!.release!.kind !== 'archive') return;
    const setup = await createFinder(t, [{ version, content: readFileSync(path()!) }], { program: name });
    const { program } = await setup.find('latest');
    assert.equal(reported(name, program), version, 'it runs after it was packed and unpacked');
  });

test('a program that prints no version is refused with what it prints', () => {
  for (const name of ['helm', 'kustomize', 'ansible-playbook'])
    assert.throws(() => programFacts(name)!.readVersion('usage: none'), /contains no version: "usage: none"/);
  const kubectlSays = (gitVersion: string) =>
    programFacts('kubectl')!.readVersion(JSON.stringify({ clientVersion: { gitVersion } }));
  assert.deepEqual(
    ['v1.30.2-dispatcher', 'v1.30.2-eks-1a2b', 'v1.30.2+k3s1', 'v1.31.0-rc.1'].map(kubectlSays),
    ['1.30.2', '1.30.2', '1.30.2', '1.31.0-rc.1'],
  );
  assert.equal(programFacts('helm')!.readVersion('v3.21.4+g1234567'), '3.21.4');
  assert.equal(programFacts('kustomize')!.readVersion('{Version:kustomize/v4.5.7 GitCommit:5}'), '4.5.7');
  assert.equal(programFacts('ansible-playbook')!.readVersion('ansible-playbook 2.9.27\n'), '2.9.27');
});
