import { checkPolicy } from './judge.ts';

const one = (address: string, after: object, more: object = {}) => ({
  resources: [{ address, after: { ...after }, ...more }],
});
const limited = {
  name: 'web',
  image: 'ghcr.io/acme/web:1',
  resources: [{ limits: { cpu: '1', memory: '1Gi' } }],
};
const pods = (spec: object) =>
  one('kubernetes_deployment_v1.d', { spec: [{ template: [{ spec: [spec] }] }] });
const manifest = (spec: object) =>
  one('kubernetes_manifest.m', { manifest: { kind: 'Deployment', spec: { template: { spec } } } });
const tasks = (definitions: object[], more: object = {}) =>
  one('aws_ecs_task_definition.t', { container_definitions: JSON.stringify(definitions), ...more });
const bare = { name: 'job', image: 'x' };

checkPolicy('all-containers-must-have-resource-limits', [
  ['containers with limits are allowed', 'allow', pods({ container: [limited] })],
  [
    'one of several containers is refused',
    'deny',
    pods({ container: [limited, { ...limited, name: 'side', resources: [] }] }),
    /^kubernetes_deployment_v1\.d: container "side" has no limit of cpu and memory/,
  ],
  ['an init container is refused', 'deny', pods({ container: [limited], init_container: [bare] })],
  [
    'a limit of one resource is not enough',
    'deny',
    pods({
      container: [{ ...limited, resources: [{ limits: { cpu: '1' } }] }],
    }),
    /no limit of memory/,
  ],
  [
    'a limit of zero does not count',
    'deny',
    pods({ container: [{ ...limited, resources: [{ limits: { cpu: '0', memory: '1Gi' } }] }] }),
  ],
  [
    'a request does not count as a limit',
    'deny',
    pods({ container: [{ ...limited, resources: [{ requests: { cpu: '1', memory: '1Gi' } }] }] }),
  ],
  ['a manifest is read', 'deny', manifest({ containers: [{ name: 'web', image: 'x' }] })],
  [
    'a manifest with limits is allowed',
    'allow',
    manifest({
      containers: [{ name: 'web', resources: { limits: { cpu: '1', memory: '1Gi' } } }],
    }),
  ],
  [
    'a manifest as YAML is read',
    'deny',
    one('kubectl_manifest.m', { yaml_body: 'spec:\n  containers:\n    - name: web\n' }),
  ],
  ['a task of ECS without limits is refused', 'deny', tasks([bare])],
  ['a task of ECS may be limited as a whole', 'allow', tasks([bare], { cpu: '256', memory: '512' })],
  ['containers of ECS may be limited', 'allow', tasks([{ ...bare, cpu: 10, memory: 128 }])],
  ['a chart waits for a person', 'pending', one('helm_release.h', { chart: 'web' })],
  [
    'only memory can be demanded',
    'allow',
    {
      policyConfiguration: { resources: ['memory'] },
      ...pods({ container: [{ ...limited, resources: [{ limits: { memory: '1Gi' } }] }] }),
    },
  ],
]);

const registries = {
  policyConfiguration: { registries: ['ghcr.io/acme', 'https://registry.example.com:5000/'] },
};
const image = (name: string) => ({ ...registries, ...pods({ container: [{ name: 'web', image: name }] }) });

checkPolicy('restrict-container-images-to-specific-registry', [
  ['an image of the registry is allowed', 'allow', image('ghcr.io/acme/web:1')],
  [
    'an image with a digest is allowed',
    'allow',
    image(`registry.example.com:5000/a/b@sha256:${'0'.repeat(64)}`),
  ],
  [
    'an image of another registry is refused',
    'deny',
    image('quay.io/acme/web'),
    /^kubernetes_deployment_v1\.d: image "quay\.io\/acme\/web" comes from quay\.io; use one from "ghcr\.io\/acme"/,
  ],
  ['an image without a registry is one of docker.io', 'deny', image('nginx'), /comes from docker\.io/],
  [
    'a name that looks like the registry is one of docker.io',
    'deny',
    image('acme/web'),
    /comes from docker\.io/,
  ],
  ['a neighbour with the same beginning is refused', 'deny', image('ghcr.io/acme-evil/web')],
  ['a host with the same beginning is refused', 'deny', image('ghcr.io.evil.example/acme/web')],
  ['another port is another registry', 'deny', image('registry.example.com:5001/a')],
  [
    'docker.io may be named',
    'allow',
    { ...image('nginx:1'), policyConfiguration: { registries: ['docker.io/library'] } },
  ],
  [
    'an init container is judged',
    'deny',
    { ...registries, ...pods({ init_container: [{ image: 'busybox' }] }) },
  ],
  [
    'an ephemeral container of a manifest is judged',
    'deny',
    {
      ...registries,
      ...manifest({ ephemeralContainers: [{ name: 'debug', image: 'busybox' }] }),
    },
  ],
  ['a task of ECS is judged', 'deny', { ...registries, ...tasks([limited, bare]) }],
  [
    'a function of Lambda is judged',
    'deny',
    {
      ...registries,
      ...one('aws_lambda_function.f', { image_uri: '1.dkr.ecr.eu-west-1.amazonaws.com/f:1' }),
    },
  ],
  [
    'a service of Cloud Run is judged',
    'deny',
    {
      ...registries,
      ...one('google_cloud_run_v2_service.s', { template: [{ containers: [{ image: 'gcr.io/x/y' }] }] }),
    },
  ],
  [
    'a group of Azure is judged',
    'deny',
    {
      ...registries,
      ...one('azurerm_container_group.g', { container: [{ name: 'a', image: 'mcr.microsoft.com/a' }] }),
    },
  ],
  [
    'an image that is known later waits for a person',
    'pending',
    {
      ...registries,
      ...one(
        'kubernetes_pod_v1.p',
        { spec: [{ container: [{ name: 'web' }] }] },
        {
          unknown: { spec: [{ container: [{ image: true }] }] },
        },
      ),
    },
  ],
  [
    'a task that is known later waits for a person',
    'pending',
    {
      ...registries,
      ...one(
        'aws_ecs_task_definition.t',
        {},
        { refers: { container_definitions: ['aws_ecr_repository.r'] } },
      ),
    },
  ],
  [
    'a policy without registries refuses everything',
    'deny',
    pods({ container: [limited] }),
    /lacks registries/,
  ],
]);
