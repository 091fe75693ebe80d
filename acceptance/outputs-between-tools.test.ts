/**
 * Outputs pass from tool to tool: each environment gets the output of the one before it, whatever tool that has, adds
 * its own word, and hands it on. The last one, which has no outputs, is read in its cluster.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { outputsByName } from '#contract/deployments/unit-outputs.ts';
import type { TemplateType } from '#contract/schema/enumerations.ts';
import type { VariableChange } from '#contract/variables/shapes.ts';
import { startStackServer } from '../agent/testing/cloudformation/server.ts';
import { withOwnProgram } from '../agent/testing/cloudformation/with-own-program.ts';
import { sharedCluster, withCluster } from '../agent/testing/cluster/cluster.ts';
import { pulumiFolder, withPulumi } from '../agent/testing/pulumi/pulumi-folder.ts';
import {
  pathWith,
  pythonProgram,
  skipUnlessRequired,
  toolboxProgram,
  withToolbox,
} from '../tools/toolbox/places.ts';
import { terraform } from './programs.ts';
import { createEnvironment, type EnvironmentRequest, homeOf, untilEnd, wholeLog } from './runs.ts';
import { makeRepository, startService } from './service.ts';

const secret = 'planted-between-tools';

/** Adds the name of the tool to what it has heard. */
const configuration = (tool: string) => `variable "heard" { type = string }
variable "password" {
  type      = string
  sensitive = true
  default   = "${secret}"
}
resource "terraform_data" "said" { input = "\${var.heard} > ${tool}" }
output "said" { value = terraform_data.said.output }
output "password" {
  value     = var.password
  sensitive = true
}
`;

interface Link {
  readonly type: TemplateType;
  readonly needs: { readonly skip?: string | false };
  readonly files: Readonly<Record<string, string>>;
  /** The output that the next one gets; null: it has none. */
  readonly output: string | null;
  /** Its sensitive output; absent: it hands none on. */
  readonly secretOutput?: string;
  /** The name of its variable for a secret; absent: it takes none. */
  readonly secretInput?: string;
  /** A variable that gets the output of an environment further up, which has this tool. */
  readonly far?: { readonly variable: string; readonly type: TemplateType };
  readonly request?: Partial<EnvironmentRequest>;
  readonly variables?: () => readonly VariableChange[];
}

const cluster = sharedCluster();
const needsCluster = withCluster();
const needsHelm = withToolbox('helm');
const needsTerraform = terraform === null ? skipUnlessRequired('needs terraform: install it') : {};

const pulumi = `name: words
runtime: yaml
config:
  heard:
    type: string
  password:
    type: string
resources:
  said:
    type: pulumi:Stash
    properties:
      input: \${heard} > pulumi
outputs:
  said: \${said.output}
  password: \${password}
`;

const stack = `AWSTemplateFormatVersion: '2010-09-09'
Parameters:
  heard:
    Type: String
  password:
    Type: String
    NoEcho: true
Resources:
  Topic:
    Type: AWS::SNS::Topic
    Properties:
      DisplayName: !Ref heard
Outputs:
  Said:
    Value: !Sub '\${heard} > cloudformation'
`;

const playbook = `- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.set_stats:
        data:
          said: "{{ heard | trim }} > ansible"
`;

const inventory = `all:
  hosts:
    localhost:
      ansible_connection: local
      ansible_python_interpreter: "{{ ansible_playbook_python }}"
`;

const links: readonly Link[] = [
  {
    type: 'terraform',
    needs: needsTerraform,
    files: { 'main.tf': configuration('terraform') },
    output: 'said',
    secretOutput: 'password',
  },
  {
    type: 'opentofu',
    needs: withToolbox('opentofu'),
    files: { 'main.tf': configuration('opentofu') },
    output: 'said',
    secretInput: 'password',
    secretOutput: 'password',
  },
  {
    type: 'pulumi',
    needs: withPulumi,
    files: { 'Pulumi.yaml': pulumi },
    output: 'said',
    secretInput: 'password',
    secretOutput: 'password',
  },
  {
    type: 'terragrunt',
    needs: withToolbox('terragrunt', 'opentofu'),
    files: {
      'live/first/main.tf': configuration('terragrunt'),
      'live/first/terragrunt.hcl': '',
      'live/second/main.tf': 'output "told" { value = "nothing" }\n',
      'live/second/terragrunt.hcl': '',
    },
    request: { isTerragruntRunAll: true, terragruntWorkingDirectory: 'live' },
    output: 'first.said',
    secretInput: 'password',
    // Only one unit has it.
    secretOutput: 'password',
  },
  {
    type: 'cloudformation',
    needs: withOwnProgram,
    files: { 'stack.yaml': stack },
    request: { fileName: 'stack.yaml' },
    output: 'Said',
    secretInput: 'password',
  },
  {
    type: 'helm',
    needs: needsHelm.skip === false ? needsCluster : needsHelm,
    files: {
      'Chart.yaml': 'apiVersion: v2\nname: words\nversion: 1.0.0\n',
      'values.yaml': 'heard: nothing\nfirst: nothing\n',
      'templates/words.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: heard}\ndata: {heard: {{ .Values.heard | quote }}, first: {{ .Values.first | quote }}}\n',
      'templates/NOTES.txt': '{{ .Values.heard }} > helm',
    },
    output: 'notes',
    far: { variable: 'first', type: 'terraform' },
  },
  {
    type: 'ansible',
    needs: withToolbox('ansible'),
    files: { 'playbook.yml': playbook, 'inventory.yml': inventory },
    output: 'said',
  },
  {
    type: 'k8s',
    needs: needsCluster,
    files: {
      'kustomization.yaml':
        'configMapGenerator:\n  - name: words\n    envs: [envarium.env]\ngeneratorOptions: {disableNameSuffixHash: true}\n',
    },
    output: null,
  },
];

/** A variable that gets the output of another environment. */
const input = (name: string, environmentId: string, outputName: string): VariableChange => ({
  name,
  type: 1,
  value: JSON.stringify({ environmentId, outputName }),
  schema: { format: 'ENVIRONMENT_OUTPUT' },
});

test('an output of each tool feeds an environment of the next one', async (t) => {
  const hasCluster = links.some(({ type, needs }) => type === 'k8s' && !needs.skip);
  const namespace = hasCluster ? await (await cluster()).namespace(t) : null;
  await using aws = await startStackServer();
  const PATH = pathWith(
    ...(['opentofu', 'terragrunt', 'helm'] as const).map(toolboxProgram),
    withPulumi.skip === false ? join(pulumiFolder(), 'pulumi') : null,
    pythonProgram('ansible'),
    terraform,
  );
  await using service = await startService({ settings: { PATH, ENVARIUM_LOG_LEVEL: 'warn' } });
  const { client, folder } = service;
  const home = await homeOf(client);
  await client.call('updatePolicy', { body: { projectId: home.projectId, outputsAsInputsEnabled: true } });
  const worldOf = (type: TemplateType): VariableChange[] => {
    const kubeconfig = { name: 'ENVARIUM_KUBECONFIG', value: namespace?.restrictedKubeconfig() ?? '' };
    const secretOf = (variable: { name: string; value: string }) => ({
      ...variable,
      type: 0,
      isSensitive: true,
    });
    if (type === 'helm' || type === 'k8s') return [secretOf(kubeconfig)] as VariableChange[];
    if (type !== 'cloudformation') return [];
    return Object.entries(aws.environment).map(([name, value]) => ({ name, value, type: 0 }));
  };

  let heard = 'begin';
  const done = new Map<
    TemplateType,
    { readonly id: string; readonly output: string; readonly value: string }
  >();
  let last: { readonly id: string; readonly link: Link } | null = null;
  for (const link of links) {
    const { type, output, secretInput, far, request = {} } = link;
    const source = far === undefined ? undefined : done.get(far.type);
    await t.test(type, link.needs, async () => {
      const { path: repository } = await makeRepository(folder, type, link.files);
      const visible: VariableChange =
        last === null ? { name: 'heard', value: heard, type: 1 } : input('heard', last.id, last.link.output!);
      const hidden =
        secretInput === undefined
          ? []
          : [
              last?.link.secretOutput === undefined
                ? { name: secretInput, value: secret, type: 1 as const, isSensitive: true }
                : input(secretInput, last.id, last.link.secretOutput),
            ];
      const { id, deploymentId } = await createEnvironment(client, home, {
        name: type,
        type,
        repository,
        workspaceName: 'words',
        ...(namespace === null ? {} : { k8sNamespace: namespace.name }),
        configurationChanges: [
          visible,
          ...hidden,
          ...(far === undefined || source === undefined
            ? []
            : [input(far.variable, source.id, source.output)]),
          ...worldOf(type),
        ],
        ...request,
      });
      const deployment = await untilEnd(client, deploymentId);
      const shown = JSON.stringify(deployment) + (await wholeLog(client, deploymentId));
      assert.ok(!shown.includes(secret), 'a sensitive output stays hidden');
      if (output === null) {
        const { data } = JSON.parse(
          await namespace!.kubectl(['get', 'configmap', 'words', '-o', 'json']),
        ) as { data: Record<string, string> };
        assert.equal(data['heard'], heard);
        return;
      }
      if (far !== undefined && source !== undefined)
        assert.equal(
          await namespace?.kubectl(['get', 'configmap', 'heard', '-o', `jsonpath={.data.${far.variable}}`]),
          source.value,
        );
      heard = `${heard} > ${type}`;
      done.set(type, { id, output, value: heard });
      const value = outputsByName(deployment.output)[output]?.value;
      assert.equal(String(value).trim(), heard);
      last = { id, link };
    });
  }
});
