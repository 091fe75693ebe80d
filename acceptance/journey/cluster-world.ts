/** A namespace of a real cluster as a world, for the tools that work on clusters. */
import type { TestContext } from 'node:test';
import type { VariableChange } from '#contract/variables/shapes.ts';
import { sharedCluster, type TestNamespace, withCluster } from '../../agent/testing/cluster/cluster.ts';
import { playAnnotation } from '../../agent/testing/cluster/played-readiness.ts';
import { type ToolboxName, withToolbox } from '../../tools/toolbox/places.ts';
import type { World } from './traveller.ts';

/** Options of a test that needs a cluster and a tool. */
export function withClusterAnd(...tools: readonly ToolboxName[]): { skip: string | false } {
  const { skip } = withToolbox(...tools);
  return skip === false ? withCluster() : { skip };
}

/** As an annotation of a template: pods of it never become ready. */
export const pending = `${playAnnotation}: pending`;

export interface ClusterWorld {
  readonly namespace: TestNamespace;
  /** Leads to the namespace, with rights in it only. */
  readonly variables: readonly VariableChange[];
  world(): Promise<World>;
  /** Changes the number of replicas by hand. */
  scale(deployment: string, replicas: number): Promise<void>;
  /** Whether a Deployment has pods that never become ready. */
  isPending(deployment: string): Promise<boolean>;
  /** Lets the API refuse changes of Deployments, and ends that again. */
  refuse(message: string): Promise<void>;
  allow(): Promise<void>;
}

/** @returns how a journey gets its namespace; called once for a test file */
export function clusterWorlds(): (t: TestContext) => Promise<ClusterWorld> {
  const cluster = sharedCluster();
  return async (t) => {
    const namespace = await (await cluster()).namespace(t);
    const { kubectl } = namespace;
    namespace.playReadiness();
    let refusal: AsyncDisposable | undefined;
    const value = namespace.restrictedKubeconfig();
    return {
      namespace,
      variables: [{ name: 'ENVARIUM_KUBECONFIG', value, type: 0, isSensitive: true }],
      world: () => objectsIn(namespace),
      scale: (name, replicas) =>
        kubectl(['scale', 'deployment', name, `--replicas=${replicas}`]).then(() => undefined),
      isPending: async (name) => {
        const { spec } = JSON.parse(
          await kubectl(['get', 'deployment', name, '-o', 'json']),
        ) as KubernetesDeployment;
        return spec.template.metadata.annotations?.[playAnnotation] === 'pending';
      },
      refuse: async (message) => {
        refusal = await namespace.refuse({ resources: ['deployments'], message });
      },
      allow: async () => refusal?.[Symbol.asyncDispose](),
    };
  };
}

interface KubernetesDeployment {
  readonly spec: {
    readonly template: { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } };
  };
}

interface ClusterObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly replicas?: number };
}

/** Objects by kind and name; all revisions of a release are one. */
async function objectsIn({ kubectl }: TestNamespace): Promise<World> {
  const kinds = 'configmaps,secrets,services,deployments';
  const { items } = JSON.parse(await kubectl(['get', kinds, '-o', 'json'])) as { items: ClusterObject[] };
  const own = items.filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt');
  return Object.fromEntries(own.map(matterOf));
}

function matterOf({ kind, metadata, type, data = {}, spec }: ClusterObject): [name: string, matter: string] {
  const name = `${kind}/${metadata.name}`;
  if (type === 'helm.sh/release.v1') return ['release', 'with its revisions'];
  if (kind === 'ConfigMap') return [name, Object.values(data).join('\n').trim()];
  if (kind === 'Secret')
    return [
      name,
      Object.values(data)
        .map((value) => Buffer.from(value, 'base64').toString())
        .join('\n'),
    ];
  return [name, spec?.replicas === undefined ? '' : `${spec.replicas} replicas`];
}
