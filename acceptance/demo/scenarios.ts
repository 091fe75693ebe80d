/** Environments that the demo deploys, by tool. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startStackServer } from '../../agent/testing/cloudformation/server.ts';
import { readExample } from '../../tools/examples.ts';
import type { EnvironmentRequest } from '../runs.ts';

const run = promisify(execFile);

export const scenarioNames = [
  'terraform',
  'opentofu',
  'terragrunt',
  'k8s',
  'helm',
  'cloudformation',
  'ansible',
  'pulumi',
] as const;
export type ScenarioName = (typeof scenarioNames)[number];

interface DemoVariable {
  readonly name: string;
  readonly value: string;
  readonly type: 0 | 1;
  readonly isSensitive?: boolean;
}

export interface Scenario {
  /** Completes "Making a small git repository with …". */
  readonly what: string;
  /** Programs on the PATH, with how to get them. */
  readonly programs: Readonly<Record<string, string>>;
  files(): Readonly<Record<string, string>>;
  /** Settings of the service that this tool needs. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Additional settings of the environment. */
  readonly request?: Omit<EnvironmentRequest, 'repository'>;
  /** Whether the environment has a namespace in a cluster. */
  readonly hasNamespace?: true;
  /** Of the first deployment. @param folder the scratch folder of the demo */
  variables(folder: string): Promise<readonly DemoVariable[]>;
  /** Changes of the second deployment. */
  readonly change: DemoVariable;
}

const terraformLike: Omit<Scenario, 'programs'> = {
  what: 'the configuration of examples/terraform',
  files: () => readExample('terraform'),
  variables: async () => [
    { name: 'greeting', value: 'good morning', type: 1 },
    { name: 'token', value: 'a-secret-that-no-log-shows', type: 1, isSensitive: true },
  ],
  change: { name: 'greeting', value: 'good evening', type: 1 },
};

/** The one user of all runs, which no other agent of the machine uses, and after it the one of the database. */
const freeUid = 100_000 + process.pid * 2;

const kubectl = { kubectl: 'see kubernetes.io/docs/tasks/tools' };

/** The person's own cluster: where `kubectl` would go. */
async function cluster(): Promise<DemoVariable[]> {
  const file = process.env.KUBECONFIG || join(homedir(), '.kube', 'config');
  const value = await readFile(file, 'utf8').catch(() => {
    throw new Error(
      `The demo needs a cluster, and there is no ${file}: start one (kind, minikube, k3s), or name its kubeconfig in KUBECONFIG.`,
    );
  });
  await run('kubectl', ['--kubeconfig', file, 'version', '--request-timeout=10s']).catch((error: unknown) => {
    const { stderr } = error as { stderr: string };
    throw new Error(`The demo needs a cluster, and the one of ${file} does not answer: ${stderr.trim()}`);
  });
  return [
    { name: 'ENVARIUM_KUBECONFIG', value, type: 0, isSensitive: true },
    { name: 'ENVARIUM_K8S_CREATE_NAMESPACE', value: 'true', type: 0 },
  ];
}

export const scenarios: Readonly<Record<ScenarioName, Scenario>> = {
  terraform: {
    ...terraformLike,
    programs: {
      terraform: 'download it from developer.hashicorp.com/terraform/install and put it on the PATH',
    },
  },
  opentofu: {
    ...terraformLike,
    programs: { tofu: 'see opentofu.org/docs/intro/install' },
  },
  terragrunt: {
    what: 'the two units of examples/terragrunt',
    programs: {
      terragrunt: 'see terragrunt.gruntwork.io/docs/getting-started/install',
      tofu: 'see opentofu.org/docs/intro/install',
    },
    files: () => readExample('terragrunt'),
    request: { terragruntVersion: 'latest', opentofuVersion: 'latest', isTerragruntRunAll: true },
    variables: async () => [],
    // The first deployment makes the network only: the servers need its outputs.
    change: { name: 'servers', value: '2', type: 1 },
  },
  k8s: {
    what: 'the manifests of examples/k8s',
    programs: kubectl,
    files: () => readExample('k8s'),
    hasNamespace: true,
    variables: async () => [...(await cluster()), { name: 'motto', value: 'good morning', type: 1 }],
    change: { name: 'motto', value: 'good evening', type: 1 },
  },
  helm: {
    what: 'the chart of examples/helm',
    programs: { helm: 'see helm.sh/docs/intro/install', ...kubectl },
    files: () => readExample('helm'),
    hasNamespace: true,
    variables: async () => [...(await cluster()), { name: 'greeting', value: 'good morning', type: 1 }],
    change: { name: 'greeting', value: 'good evening', type: 1 },
  },
  cloudformation: {
    what: 'the template of examples/cloudformation, for a server on this machine that answers as AWS does',
    programs: {},
    files: () => readExample('cloudformation'),
    request: { fileName: 'template.yaml' },
    async variables() {
      const aws = await startStackServer();
      aws.unref();
      aws.account.cloud.milliseconds = 500;
      const access = Object.entries(aws.environment).map(([name, value]) => ({
        name,
        value,
        type: 0 as const,
      }));
      return [
        ...access,
        { name: 'Stage', value: 'morning', type: 1 },
        { name: 'Token', value: 'a-secret-that-no-log-shows', type: 1, isSensitive: true },
      ];
    },
    change: { name: 'Stage', value: 'evening', type: 1 },
  },
  ansible: {
    what: 'the playbook of examples/ansible, for this machine itself',
    programs: { 'ansible-playbook': 'see docs.ansible.com, "Installing Ansible"' },
    files: () => readExample('ansible'),
    // In namespaces of its own, a run would change files that no one else sees; one user owns what all runs make.
    settings: {
      ENVARIUM_ISOLATION: 'off',
      ENVARIUM_AGENT_CONCURRENCY: '1',
      ENVARIUM_SLOT_UID_BASE: String(freeUid),
      ENVARIUM_SLOT_UID_COUNT: '1',
    },
    async variables(folder) {
      const sites = join(folder, 'sites');
      await mkdir(sites);
      // For the user of the run.
      await chmod(sites, 0o777);
      return [
        { name: 'site_folder', value: join(sites, 'demo'), type: 1 },
        { name: 'site_title', value: 'Good morning', type: 1 },
      ];
    },
    change: { name: 'site_title', value: 'Good evening', type: 1 },
  },
  pulumi: {
    what: 'the project of examples/pulumi',
    programs: {
      pulumi: 'see pulumi.com/docs/install',
      'pulumi-language-yaml': 'it is part of the release of Pulumi',
    },
    files: () => readExample('pulumi'),
    variables: async () => [{ name: 'greeting', value: 'good morning', type: 1 }],
    change: { name: 'greeting', value: 'good evening', type: 1 },
  },
};

/** @throws Error that says how to get what is missing */
export async function requirePrograms(programs: Scenario['programs']): Promise<void> {
  const needed = { git: 'install your system\'s package "git"', ...programs };
  const missing: string[] = [];
  for (const [program, how] of Object.entries(needed)) {
    await run('sh', ['-c', 'command -v -- "$1"', 'sh', program]).catch(() =>
      missing.push(`The demo needs ${program}, which is not on the PATH: ${how}.`),
    );
  }
  if (missing.length > 0) throw new Error(missing.join('\n'));
}
