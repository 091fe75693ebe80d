/**
 * Merge rules of fields of built-in kinds for strategic merge patches, from the types of Kubernetes. A field that is
 * not named is merged key by key if it is a map, and replaced as a whole otherwise.
 */
import { groupOf, isBuiltIn, type KubernetesObject } from './objects.ts';

/** Merge rule of one field. */
export interface MergeRule {
  /** Of a map, or of the maps in a list. */
  readonly fields?: Readonly<Record<string, MergeRule>>;
  /** A list whose elements are merged by the value of this field. */
  readonly mergeKey?: string;
  /** A list of texts, of which each is added and removed on its own. */
  readonly isSet?: true;
  /** A patch leaves only those keys that the new manifest has. */
  readonly retainsKeys?: true;
  /** A map that is replaced as a whole. */
  readonly isReplaced?: true;
}

type RuleFields = NonNullable<MergeRule['fields']>;

function by(mergeKey: string, fields: RuleFields = {}, more: MergeRule = {}): MergeRule {
  return { mergeKey, fields, ...more };
}

const metadata: MergeRule = { fields: { finalizers: { isSet: true }, ownerReferences: by('uid') } };

const containers = by('name', {
  env: by('name'),
  ports: by('containerPort'),
  volumeDevices: by('devicePath'),
  volumeMounts: by('mountPath'),
});

const podSpec: MergeRule = {
  fields: {
    containers,
    initContainers: containers,
    ephemeralContainers: containers,
    hostAliases: by('ip'),
    imagePullSecrets: by('name'),
    resourceClaims: by('name', {}, { retainsKeys: true }),
    schedulingGates: by('name'),
    topologySpreadConstraints: by('topologyKey'),
    volumes: by(
      'name',
      { ephemeral: { fields: { volumeClaimTemplate: { fields: { metadata } } } } },
      { retainsKeys: true },
    ),
  },
};

const template: MergeRule = { fields: { metadata, spec: podSpec } };
const workload: RuleFields = { spec: { fields: { template } } };
const webhooks: RuleFields = { webhooks: by('name', { matchConditions: by('name') }) };

/** By group and kind. */
const kinds: Readonly<Record<string, RuleFields>> = {
  '/ComponentStatus': { conditions: by('type') },
  '/Node': { spec: { fields: { podCIDRs: { isSet: true } } } },
  '/Pod': { spec: podSpec },
  '/PodTemplate': { template },
  '/ReplicationController': workload,
  '/Service': { spec: { fields: { ports: by('port') } } },
  '/ServiceAccount': { secrets: by('name') },
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': {
    spec: { fields: { matchConditions: by('name') } },
  },
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhooks,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': {
    spec: { fields: { matchConditions: by('name'), variables: by('name') } },
  },
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhooks,
  'apps/DaemonSet': workload,
  'apps/Deployment': { spec: { fields: { strategy: { retainsKeys: true }, template } } },
  'apps/ReplicaSet': workload,
  'apps/StatefulSet': workload,
  'batch/CronJob': {
    spec: { fields: { jobTemplate: { fields: { metadata, spec: { fields: { template } } } } } },
  },
  'batch/Job': workload,
  'policy/PodDisruptionBudget': { spec: { fields: { selector: { isReplaced: true } } } },
  'resource.k8s.io/ResourceClaimTemplate': { spec: { fields: { metadata } } },
  'storage.k8s.io/CSINode': { spec: { fields: { drivers: by('name') } } },
};

/** The rule of a whole object. @returns null if the cluster takes no strategic merge patch of its kind */
export function mergeRuleOf(object: Pick<KubernetesObject, 'apiVersion' | 'kind'>): MergeRule | null {
  const group = groupOf(object);
  // Its kinds are served by another program than those of Kubernetes.
  if (!isBuiltIn(object) || group === 'apiregistration.k8s.io') return null;
  const name = `${group}/${object.kind}`;
  return { fields: { metadata, ...(Object.hasOwn(kinds, name) ? kinds[name] : {}) } };
}
