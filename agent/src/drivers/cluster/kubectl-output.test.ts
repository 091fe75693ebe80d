import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allKubectlErrors, kubectlProgress, kubectlReason } from './kubectl-output.ts';

const errors = [
  {
    what: 'a field that another manager owns',
    output: `W1123 14:51:03.8 24804 diff.go:723] Object (/v1, Kind=ConfigMap: o1) keeps changing, diffing without lock
Error from server (Conflict): Apply failed with 2 conflicts: conflicts with "kubectl-edit" using v1:
- .data.a
- .data.b
`,
    expected:
      '.data.a, .data.b of v1/ConfigMap/o1: managed by "kubectl-edit", and with another value there than here. Remove the field from the manifest, or set the variable ENVARIUM_K8S_FORCE_CONFLICTS to true to take it over',
  },
  {
    what: 'a conflict in an apply, without its advice for a command line',
    output: `error: Apply failed with 1 conflict: conflict with "kubectl-patch" using v1: .data.a
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
`,
    expected:
      '.data.a: managed by "kubectl-patch", and with another value there than here. Remove the field from the manifest, or set the variable ENVARIUM_K8S_FORCE_CONFLICTS to true to take it over',
  },
  {
    what: 'what failed, for a user who may not see events',
    output: `Error from server (Forbidden): events is forbidden: User "one" cannot list resource "events" in API group "" in the namespace "shop"
error: the server doesn't have a resource type "x"
`,
    expected: 'the server doesn\'t have a resource type "x"',
  },
  {
    what: 'fields of several managers',
    output: `error: Apply failed with 2 conflicts: conflicts with "one":
- .data.a
conflicts with "two" using v1:
- .data.b
Please review the fields above--they currently have other managers. Here
`,
    expected:
      '.data.a, .data.b: managed by "one", "two", and with another value there than here. Remove the field from the manifest, or set the variable ENVARIUM_K8S_FORCE_CONFLICTS to true to take it over',
  },
  {
    what: 'an unknown kind',
    output: `error: resource mapping not found for name: "x" namespace: "" from "STDIN": no matches for kind "Thing" in version "foo.io/v1"
ensure CRDs are installed first
`,
    expected:
      'resource mapping not found for name: "x" namespace: "" from "STDIN": no matches for kind "Thing" in version "foo.io/v1"\n(the cluster has no such kind: correct apiVersion and kind, or install its definition (CustomResourceDefinition) first)',
  },
  {
    what: 'the first of several objects, and how many more',
    output: `configmap/a serverside-applied
Error from server (Forbidden): secrets "s1" is forbidden: User "x" cannot get resource
Error from server (Forbidden): secrets "s1" is forbidden: User "x" cannot get resource
The Deployment "web" is invalid: spec.selector: Invalid value: {}: field is immutable
`,
    expected:
      'Error from server (Forbidden): secrets "s1" is forbidden: User "x" cannot get resource (and 1 more error)',
  },
  {
    what: 'several wrong fields of an object',
    output:
      'The Deployment "web" is invalid: \n* spec.a: Required value\n* spec.b: Invalid value: 1: must be 2\n',
    expected:
      'The Deployment "web" is invalid: \n* spec.a: Required value\n* spec.b: Invalid value: 1: must be 2',
  },
  {
    what: 'an expired token',
    output: 'error: You must be logged in to the server (Unauthorized)\n',
    expected:
      'You must be logged in to the server (Unauthorized)\n(the cluster does not accept the token or certificate of the kubeconfig: it is wrong or has expired; renew it)',
  },
  {
    what: 'a cluster that cannot be reached',
    output: `E1123 14:49:16.1 12498 memcache.go:265] "Unhandled Error" err="couldn't get"
The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?
`,
    expected:
      'The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n(the cluster of the kubeconfig cannot be reached from this agent)',
  },
];

for (const { what, output, expected } of errors)
  test(`names ${what}`, () => assert.equal(kubectlReason(output), expected));

test('names what was not ready in time', () => {
  const output = `Waiting for deployment "web" rollout to finish: 0 of 1 updated replicas are available...
Waiting for deployment "shop" rollout to finish: 0 of 2 updated replicas are available...
Waiting for deployment "shop" rollout to finish: 1 of 2 updated replicas are available...
Waiting for deployment "done" rollout to finish: 0 of 1 updated replicas are available...
deployment "done" successfully rolled out
error: timed out waiting for the condition
timed out waiting for the condition
`;
  assert.equal(
    kubectlReason(output),
    'not in time: deployment "web" rollout to finish: 0 of 1 updated replicas are available; deployment "shop" rollout to finish: 1 of 2 updated replicas are available\n(correct what it waits for, or allow more time in the variable ENVARIUM_K8S_WAIT_SECONDS)',
  );
});

test('finds no error where there is none, and counts those after the first', () => {
  assert.equal(kubectlReason('configmap/a serverside-applied\nWarning: deprecated\n'), null);
  assert.equal(
    kubectlReason(
      'E1123 15:56:05.312025       1 run.go:72] "command failed" err="in \\"a.yaml\\": MalformedYAMLError"\n',
    ),
    'in "a.yaml": MalformedYAMLError',
  );
  const many = Array.from({ length: 30 }, (_, index) => `Error from server: ${index}`).join('\n');
  assert.equal(kubectlReason(many), 'Error from server: 0 (and 29 more errors)');
  const listed = allKubectlErrors(many)?.split('\n') ?? [];
  assert.deepEqual(
    [listed[0], listed.at(-1)],
    ['Error from server: 0 (and 29 more errors)', 'Error from server: 9'],
  );
});

test('reads what was applied and deleted, in pieces of any size', () => {
  const text = `configmap/c1 serverside-applied
deployment.apps/web configured
service/s unchanged
Waiting for deployment "web" rollout to finish
deployment.apps "web" deleted
secret "s1" deleted from demo namespace
`;
  const reader = kubectlProgress();
  const events = [...Buffer.from(text)].flatMap((byte) => reader.read(Buffer.from([byte])));
  assert.deepEqual(
    events.map(({ address, action, status }) => [address, action, status]),
    [
      ['configmap/c1', 'update', 'done'],
      ['deployment.apps/web', 'update', 'done'],
      ['deployment.apps/web', 'delete', 'done'],
      ['secret/s1', 'delete', 'done'],
    ],
  );
});
