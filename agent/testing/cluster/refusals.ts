/** Lets the API server of a test's cluster refuse objects, as an admission webhook of a cluster would. */
import type { ApiClient } from './api-client.ts';
import type { ControlPlane } from './control-plane.ts';

/** Objects are refused in one namespace, by resource, such as `deployments`. */
export interface Refusal {
  readonly namespace: string;
  /** Names as in the API, in the plural: `configmaps`, `deployments`. */
  readonly resources: readonly string[];
  /** The sentence in the error. */
  readonly message: string;
}

const group = '/apis/admissionregistration.k8s.io/v1';
const probe = 'refusal-probe';

/**
 * Refuses creations and changes of the objects from now on; deletions succeed.
 * @returns what ends it; the API server follows within a second
 */
export async function refuse({ api, until }: ControlPlane, refusal: Refusal): Promise<AsyncDisposable> {
  const { namespace, resources, message } = refusal;
  const name = `refuses-${resources.join('-')}.${namespace}`;
  const rule = { apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'] };
  const list = resources.map((resource) => `'${resource}'`).join(', ');
  await api.expect('POST', `${group}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        // Config maps as well: by one it is seen whether the policy is in force.
        resourceRules: [{ ...rule, resources: [...new Set([...resources, 'configmaps'])] }],
      },
      validations: [
        {
          expression: `!(request.resource.resource in [${list}]) && object.metadata.name != '${probe}'`,
          message,
        },
      ],
    },
  });
  const bindings = `${group}/validatingadmissionpolicybindings`;
  await api.expect('POST', bindings, {
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  });
  await until(`${name} is in force`, async () => isRefused(api, namespace));
  return {
    async [Symbol.asyncDispose]() {
      await api.expect('DELETE', `${bindings}/${name}`);
      await api.expect('DELETE', `${group}/validatingadmissionpolicies/${name}`);
      await until(`${name} is no longer in force`, async () => !(await isRefused(api, namespace)));
    },
  };
}

async function isRefused(api: ApiClient, namespace: string): Promise<boolean> {
  const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`;
  return (await api.send('POST', path, { metadata: { name: probe } })).status === 422;
}
