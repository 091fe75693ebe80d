/**
 * Plays the machines that a test's cluster has none of: pods become ready, or end. All else that a rollout waits
 * for is done by the real controllers, from the pods up.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient, KubernetesObject } from './api-client.ts';

/**
 * Annotation of a pod or a template of pods: `failed`: its containers end with status 1; `pending`: nothing
 * happens to it.
 */
export const playAnnotation = 'cluster.test/play';

interface Pod extends KubernetesObject {
  readonly spec: {
    readonly restartPolicy: string;
    readonly containers: readonly { readonly name: string; readonly image: string }[];
  };
  readonly status: { readonly phase?: string };
}

/**
 * Plays until it is disposed. Pods that always restart become ready, those of jobs and hooks succeed.
 * @returns what ends it; what is ready stays so
 */
export function playReadiness(api: ApiClient, namespace: string): AsyncDisposable {
  const ending = new AbortController();
  const failures: unknown[] = [];
  const playing = play(api, namespace, ending.signal, failures);
  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      await playing;
      if (failures.length > 0) throw failures[0];
    },
  };
}

async function play(
  api: ApiClient,
  namespace: string,
  signal: AbortSignal,
  failures: unknown[],
): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const steps = new Set<Promise<void>>();
  const changed = (object: KubernetesObject): void => {
    const status = playedStatus(object as Pod);
    if (status === null) return;
    const step = patchStatus(api, `${path}/${object.metadata.name}/status`, status)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => steps.delete(step));
    steps.add(step);
  };
  while (!signal.aborted) {
    await api.watch(path, signal, changed).catch(() => undefined);
    await delay(50, undefined, { signal }).catch(() => undefined);
  }
  await Promise.all(steps);
}

/** A pod that is gone by then needs no status. */
async function patchStatus(api: ApiClient, path: string, status: unknown): Promise<void> {
  const answer = await api.send('PATCH', path, { status });
  if (answer.status >= 300 && ![404, 409].includes(answer.status))
    throw new Error(`${path}: ${answer.status} ${String(answer.body.message)}`);
}

/** New status of a pod; null: it stays. */
function playedStatus({ metadata, spec, status }: Pod): unknown {
  const wish = metadata.annotations?.[playAnnotation];
  const isNew = status.phase === undefined || status.phase === 'Pending';
  if (!isNew || wish === 'pending' || metadata.deletionTimestamp !== undefined) return null;
  const now = new Date().toISOString().replace(/\.\d+/, '');
  const ended = { startedAt: now, finishedAt: now, reason: wish === 'failed' ? 'Error' : 'Completed' };
  const exitCode = wish === 'failed' ? 1 : 0;
  const isEnding = wish === 'failed' || spec.restartPolicy !== 'Always';
  const state = isEnding ? { terminated: { exitCode, ...ended } } : { running: { startedAt: now } };
  const types = isEnding
    ? ['PodScheduled', 'Initialized']
    : ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'];
  return {
    phase: isEnding ? (exitCode === 0 ? 'Succeeded' : 'Failed') : 'Running',
    startTime: now,
    conditions: types.map((type) => ({ type, status: 'True', lastTransitionTime: now })),
    containerStatuses: spec.containers.map(({ name, image }) => ({
      ...{ name, image, imageID: image, restartCount: 0, ready: !isEnding, started: !isEnding, state },
    })),
  };
}
