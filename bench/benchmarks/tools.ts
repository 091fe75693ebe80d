/** The service's own time in deployments of each tool, alternated with terraform: each changes one small thing. */
import { join } from 'node:path';
import type { CreateEnvironmentBody } from '#contract/environments/create-environment.ts';
import { startStackServer } from '../../agent/testing/cloudformation/server.ts';
import { startCluster } from '../../agent/testing/cluster/cluster.ts';
import { pulumiFolder } from '../../agent/testing/pulumi/pulumi-folder.ts';
import { pathWith, pythonProgram, toolboxProgram } from '../../tools/toolbox/places.ts';
import { createEnvironment, deployAndWatch } from '../measure/deployments.ts';
import { type Bench, type BenchResult, type Figure, figure } from '../measure/figure.ts';
import { makeRepository, oneVariable, textVariable } from '../measure/repository.ts';
import { type BenchService, scratchFolder, startService } from '../measure/service.ts';
import { median } from '../measure/statistics.ts';
import { readTimelines } from '../measure/timeline.ts';

interface Tool {
  readonly type: 'terraform' | 'terragrunt' | 'pulumi' | 'cloudformation' | 'k8s' | 'helm' | 'ansible';
  readonly files: Readonly<Record<string, string>>;
}

const tools: readonly Tool[] = [
  { type: 'terraform', files: { 'main.tf': oneVariable } },
  { type: 'terragrunt', files: { 'main.tf': oneVariable, 'terragrunt.hcl': '' } },
  {
    type: 'pulumi',
    files: {
      'Pulumi.yaml': `name: text
runtime: yaml
config: {text: {type: string}}
resources: {it: {type: 'pulumi:index:Stash', properties: {input: '\${text}'}}}
outputs: {text: '\${it.output}'}
`,
    },
  },
  {
    type: 'cloudformation',
    files: {
      'template.yaml': `Parameters: {text: {Type: String}}
Resources: {Topic: {Type: 'AWS::SNS::Topic', Properties: {DisplayName: !Ref text}}}
Outputs: {text: {Value: !Ref text}}
`,
    },
  },
  {
    type: 'k8s',
    files: {
      'kustomization.yaml':
        'configMapGenerator: [{name: text, envs: [envarium.env]}]\ngeneratorOptions: {disableNameSuffixHash: true}\n',
    },
  },
  {
    type: 'helm',
    files: {
      'Chart.yaml': 'apiVersion: v2\nname: text\nversion: 1.0.0\n',
      'values.yaml': 'text: ""\n',
      'templates/text.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: text-of-helm}\ndata: {text: {{ .Values.text | quote }}}\n',
    },
  },
  {
    type: 'ansible',
    files: {
      'playbook.yml':
        '- hosts: localhost\n  gather_facts: false\n  tasks:\n    - ansible.builtin.debug: {msg: "{{ text }}"}\n      changed_when: true\n',
    },
  },
];

/** Of the toolbox, on the PATH of the service. */
const names = ['helm', 'terragrunt', 'opentofu'] as const;

/** @returns the service's own milliseconds in a deployment that changes the text */
async function deployOnce(service: BenchService, environmentId: string, value: string): Promise<number> {
  const { id } = await deployAndWatch(service, environmentId, { configurationChanges: textVariable(value) });
  const [timeline] = await readTimelines(service, [id]);
  return (timeline?.phases ?? []).reduce((sum, { ownMilliseconds }) => sum + ownMilliseconds, 0);
}

export const toolsBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const rounds = isQuick ? 3 : 20;
  await using cluster = await startCluster();
  await using aws = await startStackServer();
  await using folder = await scratchFolder();
  const namespace = 'bench';
  await cluster.kubectl(['create', 'namespace', namespace]);
  const target: Partial<CreateEnvironmentBody> = {
    k8sNamespace: namespace,
    configurationChanges: [
      ...textVariable('first'),
      ...Object.entries(aws.environment).map(([name, value]) => ({ name, value, type: 0 as const })),
      { name: 'ENVARIUM_KUBECONFIG', value: cluster.kubeconfig(namespace), type: 0, isSensitive: true },
    ],
  };
  await using service = await startService(folder, {
    settings: {
      PATH: pathWith(...names.map(toolboxProgram), join(pulumiFolder(), 'pulumi'), pythonProgram('ansible')),
    },
  });
  const environments = new Map<Tool['type'], string>();
  for (const { type, files } of tools) {
    const repository = await makeRepository(folder.repositories, type, files);
    const file = type === 'cloudformation' ? { fileName: 'template.yaml' } : {};
    const request = { type, workspaceName: `bench-${type}`, ...file, ...target };
    environments.set(type, await createEnvironment(service, repository, false, request));
  }
  const own = new Map<Tool['type'], number[]>(tools.map(({ type }) => [type, []]));
  for (let round = -2; round < rounds; round++) {
    for (const [type, id] of environments) {
      const milliseconds = await deployOnce(service, id, `round ${round}`);
      if (round >= 0) own.get(type)?.push(milliseconds);
    }
  }
  const base = own.get('terraform') ?? [];
  const figures: Figure[] = [...own].flatMap(([type, times]) => {
    const absolute = figure(`own time: ${type}`, 'ms', times);
    if (type === 'terraform') return [absolute];
    // Deployments of different tools have nothing in common but the service: pairs of them say less than medians.
    const ratio = median(times) / median(base);
    return [absolute, figure(`own time: ${type} to terraform`, '×', [ratio])];
  });
  return { figures, settings: { rounds } };
};
