/**
 * For tests: a real cluster of Kubernetes without machines. One serves a whole test file; each test has a namespace
 * of its own.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { promisify } from 'node:util';
import { findOnPath } from '#guards/find-on-path.ts';
import { skipUnlessRequired, withToolbox } from '../../../tools/toolbox/places.ts';
import type { ApiClient } from './api-client.ts';
import { type ControlPlane, startControlPlane, tokenIssuer } from './control-plane.ts';
import { kubeconfigText, serviceAccountToken } from './identities.ts';
import { playReadiness } from './played-readiness.ts';
import { type Refusal, refuse } from './refusals.ts';

const run = promisify(execFile);
const kubectlProgram = 'kubectl';
const accountName = 'deployer';

/** Options of a test that needs a cluster. @throws Error where `TOOLBOX_REQUIRED` is set and a program is missing */
export function withCluster(): { skip: string | false } {
  const built = withToolbox('kube-apiserver', 'kube-controller-manager');
  if (built.skip !== false) return built;
  if (findOnPath('etcd') === null) return skipUnlessRequired('needs etcd: install the package "etcd-server"');
  if (findOnPath(kubectlProgram) === null)
    return skipUnlessRequired('needs kubectl: install it from https://kubernetes.io/docs/tasks/tools/');
  return { skip: false };
}

/** Runs kubectl; rejects with `code`, `stdout` and `stderr` where it ends with another status than 0. */
export type Kubectl = (args: readonly string[], input?: string) => Promise<string>;

export interface Cluster extends AsyncDisposable {
  /** `https://127.0.0.1:port`. */
  readonly url: string;
  /** The certificate of the API server's authority. */
  readonly ca: string;
  /** As a user who may do everything. */
  readonly api: ApiClient;
  /** As `api`. */
  readonly kubectl: Kubectl;
  /** Of the programs that it consists of. */
  readonly processIds: readonly number[];
  /** Of a user who may do everything, in a namespace or in `default`. */
  kubeconfig(namespace?: string): string;
  /** A new namespace, which is removed after the test. */
  namespace(t: Ending): Promise<TestNamespace>;
}

/** A test, or what ends otherwise. */
export interface Ending {
  after(end: () => Promise<void>): void;
}

export interface TestNamespace {
  readonly name: string;
  /** As a user who may do everything, in this namespace unless another is specified. */
  readonly kubectl: Kubectl;
  /** Of a user who may do everything. */
  kubeconfig(): string;
  /**
   * Of a service account that may edit this namespace and nothing else.
   * @param seconds until the API refuses its token, an hour by default; negative: at once
   */
  restrictedKubeconfig(seconds?: number): string;
  /** The token of `restrictedKubeconfig`. */
  restrictedToken(seconds?: number): string;
  /**
   * Lets pods of the namespace become ready, or end, until the result is disposed or the test ends.
   * `playAnnotation` (played-readiness.ts) makes exceptions of pods.
   */
  playReadiness(): AsyncDisposable;
  /** Lets the API refuse objects of the namespace until the result is disposed. */
  refuse(refusal: Omit<Refusal, 'namespace'>): Promise<AsyncDisposable>;
  /** Waits until all of the namespace is removed, and it as well. */
  remove(): Promise<void>;
}

/**
 * Starts a cluster: within a few seconds and with half a gigabyte of memory. Its programs end with this process at
 * the latest.
 * @throws Error that says what the programs wrote, where one does not start
 */
export async function startCluster(): Promise<Cluster> {
  const plane = await startControlPlane();
  const { url, ca, api, adminToken } = plane;
  const kubeconfig = (namespace?: string) =>
    kubeconfigText({ url, ca, token: adminToken, ...(namespace !== undefined && { namespace }) });
  const kubectl = kubectlOf(plane, 'default', kubeconfig());
  return {
    ...{ url, ca, api, kubectl, kubeconfig, processIds: plane.processIds },
    namespace: (t) => makeNamespace(t, plane, kubeconfig),
    [Symbol.asyncDispose]: () => plane[Symbol.asyncDispose](),
  };
}

/**
 * The cluster of a test file: started by the first test that asks, ended after the last.
 * @returns how a test asks for it
 */
export function sharedCluster(): () => Promise<Cluster> {
  let started: Promise<Cluster> | undefined;
  after(async () => (await started?.catch(() => undefined))?.[Symbol.asyncDispose]());
  return () => (started ??= startCluster());
}

function kubectlOf({ folder }: ControlPlane, namespace: string, kubeconfig: string): Kubectl {
  const file = join(folder, `${namespace}.kubeconfig`);
  writeFileSync(file, kubeconfig, { mode: 0o600 });
  return async (args, input = '') => {
    const environment = { PATH: process.env.PATH, HOME: folder, KUBECONFIG: file };
    const running = run(kubectlProgram, [...args], { env: environment, maxBuffer: 100_000_000 });
    // A command that reads nothing may have closed it.
    running.child.stdin?.on('error', () => undefined).end(input);
    return (await running).stdout;
  };
}

async function makeNamespace(
  t: Ending,
  plane: ControlPlane,
  kubeconfig: (namespace: string) => string,
): Promise<TestNamespace> {
  const { api, url, ca } = plane;
  const name = `test-${randomBytes(4).toString('hex')}`;
  const path = `/api/v1/namespaces/${name}`;
  await api.expect('POST', '/api/v1/namespaces', { metadata: { name } });
  const account = await makeAccount(plane, name);
  const ends: AsyncDisposable[] = [];
  t.after(async () => {
    for (const end of ends.toReversed()) await end[Symbol.asyncDispose]();
    await api.send('DELETE', path);
  });
  const restrictedToken = (seconds = 3600) =>
    serviceAccountToken(plane.signingKey, tokenIssuer, account, seconds);
  return {
    name,
    kubectl: kubectlOf(plane, name, kubeconfig(name)),
    kubeconfig: () => kubeconfig(name),
    restrictedToken,
    restrictedKubeconfig: (seconds) =>
      kubeconfigText({ url, ca, token: restrictedToken(seconds), namespace: name }),
    playReadiness: () => onceAtMost(playReadiness(api, name), ends),
    refuse: async (refusal) => onceAtMost(await refuse(plane, { namespace: name, ...refusal }), ends),
    async remove() {
      await api.expect('DELETE', path);
      await plane.until(`${name} is removed`, async () => (await api.send('GET', path)).status === 404);
    },
  };
}

/** Resources that a test ends itself or leaves to the end of the test. */
function onceAtMost(wanted: AsyncDisposable, ends: AsyncDisposable[]): AsyncDisposable {
  let ended: Promise<void> | undefined;
  const end = { [Symbol.asyncDispose]: () => (ended ??= Promise.resolve(wanted[Symbol.asyncDispose]())) };
  ends.push(end);
  return end;
}

/** Waits as well until its rights count, and until the namespace can run pods. */
async function makeAccount({ api, until }: ControlPlane, namespace: string) {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  const { metadata } = await api.expect('POST', path, { metadata: { name: accountName } });
  await api.expect('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
    metadata: { name: accountName },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ kind: 'ServiceAccount', name: accountName, namespace }],
  });
  await until(
    `pods can run in ${namespace}`,
    async () => (await api.send('GET', `${path}/default`)).status === 200,
  );
  await until(`${accountName} may edit ${namespace}`, async () => {
    const { status } = await api.expect('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      spec: {
        user: `system:serviceaccount:${namespace}:${accountName}`,
        resourceAttributes: { namespace, verb: 'create', group: 'apps', resource: 'deployments' },
      },
    });
    return (status as { allowed: boolean }).allowed;
  });
  return { namespace, name: accountName, uid: metadata.uid ?? '' };
}
