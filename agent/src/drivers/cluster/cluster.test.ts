import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { Job } from '#protocol/messages/job.ts';
import { jobOf, treeFrom } from '../../../testing/driver-job.ts';
import { clusterEnvironment, clusterFile, namespaceProblem } from './cluster.ts';

const configurationFolder = '/srv/run/app';

function kubeconfig(user: string): string {
  return `apiVersion: v1
kind: Config
current-context: two
contexts:
- {name: one, context: {cluster: c1, user: u1}}
- {name: two, context: {cluster: c2, user: u2, namespace: theirs}}
clusters:
- {name: c1, cluster: {server: https://one}}
- {name: c2, cluster: {server: https://two, certificate-authority: ca.pem}}
users:
- {name: u1, user: {token: first-token}}
- {name: u2, user: ${user}}
`;
}

function variable(name: string, value: string): Partial<Job> {
  return { variables: { environment: [{ name, value, isSensitive: true }], terraform: [] } };
}

interface Copy {
  readonly contexts: readonly [{ readonly context: { readonly namespace?: string } }];
  readonly clusters: readonly [{ readonly cluster: Readonly<Record<string, unknown>> }];
  readonly users: readonly [{ readonly user: unknown }];
}

async function fileOf(
  changes: Partial<Job>,
  { files = {}, namespace }: { files?: Record<string, string>; namespace?: string } = {},
) {
  const context = { job: jobOf(changes), configurationFolder, tree: treeFrom(files) };
  const file = await clusterFile(context, namespace);
  assert.equal(file.isSecret, true);
  return { name: file.name, content: parse(file.content) as Copy };
}

test('a program that a key of YAML merges into the user is refused, too', async () => {
  const merged = kubeconfig('{"<<": {exec: {command: touch}}}');
  const plain = merged.replace('"<<"', '<<');
  await assert.rejects(fileOf(variable('ENVARIUM_KUBECONFIG', plain)), /starts a program.*"exec"/);
  const { content } = await fileOf(variable('ENVARIUM_KUBECONFIG', merged));
  assert.deepEqual(content.users[0].user, {});
});

test('the current context of a kubeconfig is copied, with the namespace of the environment', async () => {
  const { name, content } = await fileOf(
    variable('ENVARIUM_KUBECONFIG', kubeconfig('{token: second-token}')),
    {
      namespace: 'shop',
    },
  );
  assert.equal(`${configurationFolder}/${name}`, clusterEnvironment({ configurationFolder })['KUBECONFIG']);
  assert.deepEqual(content.contexts, [
    { name: 'envarium', context: { cluster: 'envarium', user: 'envarium', namespace: 'shop' } },
  ]);
  assert.deepEqual(content.users, [{ name: 'envarium', user: { token: 'second-token' } }]);
  assert.equal(content.clusters[0].cluster['certificate-authority'], '/srv/run/app/ca.pem');
});

test('without a namespace of the environment, that of the kubeconfig stays', async () => {
  const { content } = await fileOf(variable('ENVARIUM_KUBECONFIG', kubeconfig('{token: t}')));
  assert.equal(content.contexts[0].context.namespace, 'theirs');
});

test('a kubeconfig elsewhere in the repository is found by its path', async () => {
  const files = { '../access/config': kubeconfig('{client-key: key.pem}') };
  const source = { ...jobOf({}).source, path: 'app' };
  for (const path of ['../access/config', '/srv/run/access/config']) {
    const { content } = await fileOf({ ...variable('KUBECONFIG', path), source }, { files });
    assert.deepEqual(content.users[0].user, { 'client-key': '/srv/run/access/key.pem' });
  }
});

test('a kubeconfig of the repository is found by its path, and its paths are relative to it', async () => {
  const files = { 'access/config': kubeconfig('{client-key: key.pem, client-certificate: /etc/cert.pem}') };
  for (const path of ['access/config', `${configurationFolder}/access/config`]) {
    const { content } = await fileOf(variable('KUBECONFIG', path), { files });
    assert.deepEqual(content.users[0].user, {
      'client-key': '/srv/run/app/access/key.pem',
      'client-certificate': '/etc/cert.pem',
    });
  }
});

test('the kubeconfig of a credential is found, and a variable of the run takes its place', async () => {
  const delivered = {
    environment: { KUBECONFIG: '/credentials/kubeconfig' },
    files: [{ name: 'kubeconfig', content: kubeconfig('{tokenFile: kubeconfig-token}') }],
    versions: [],
  };
  const { content } = await fileOf({ delivered });
  assert.deepEqual(content.users[0].user, { tokenFile: '/credentials/kubeconfig-token' });
  const other = await fileOf({ delivered, ...variable('ENVARIUM_KUBECONFIG', kubeconfig('{token: own}')) });
  assert.deepEqual(other.content.users[0].user, { token: 'own' });
});

for (const { what, changes, expected } of [
  {
    what: 'nothing',
    changes: {},
    expected: /no cluster: assign a Kubernetes credential.*ENVARIUM_KUBECONFIG.*KUBECONFIG/,
  },
  {
    what: 'several paths',
    changes: variable('KUBECONFIG', 'a:b'),
    expected: /KUBECONFIG names several files/,
  },
  {
    what: 'a path outside',
    changes: variable('KUBECONFIG', '/home/me/.kube/config'),
    expected: /outside of the repository/,
  },
  {
    what: 'a path upwards',
    changes: variable('KUBECONFIG', '../config'),
    expected: /outside of the repository/,
  },
  {
    what: 'a path out of the repository',
    changes: { ...variable('KUBECONFIG', '../../config'), source: { ...jobOf({}).source, path: 'app' } },
    expected: /outside of the repository/,
  },
  { what: 'a missing file', changes: variable('KUBECONFIG', 'config'), expected: /does not exist/ },
  {
    what: 'no YAML',
    changes: variable('ENVARIUM_KUBECONFIG', 'secret: {'),
    expected: /^Error: The variable ENVARIUM_KUBECONFIG is not a kubeconfig file: it cannot be read as YAML$/,
  },
  {
    what: 'a program',
    changes: variable('ENVARIUM_KUBECONFIG', kubeconfig('{exec: {command: aws}}')),
    expected: /starts a program for its user \("exec"\).*ENVARIUM_KUBECONFIG_PROGRAMS/,
  },
])
  test(`a run with ${what} for a kubeconfig is refused with the reason`, async () => {
    await assert.rejects(fileOf(changes), expected);
  });

test('a program in a kubeconfig is kept where the agent allows it', async () => {
  const delivered = { environment: {}, files: [], versions: [], mayStartPrograms: true };
  const { content } = await fileOf({
    delivered,
    ...variable('ENVARIUM_KUBECONFIG', kubeconfig('{exec: {command: aws}}')),
  });
  assert.deepEqual(content.users[0].user, { exec: { command: 'aws' } });
});

test('a namespace has a name that Kubernetes takes', () => {
  assert.equal(namespaceProblem('k8sNamespace', 'shop-1'), null);
  for (const name of ['', 'Shop', '-shop', 'a'.repeat(64), 'a.b'])
    assert.match(namespaceProblem('k8sNamespace', name) ?? '', /^k8sNamespace: a namespace has 1 to 63/);
});
