/** Requests to the API of a test's cluster, over https with the cluster's own authority. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';

/** Minimum fields of an object of Kubernetes; tests know the rest of those that they made. */
export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly deletionTimestamp?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly kind: string }[];
  };
  readonly [field: string]: unknown;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: KubernetesObject;
}

export interface ApiClient extends Disposable {
  /**
   * @param path with its query, such as `/api/v1/namespaces`
   * @param body sent as JSON; of a PATCH as a merge patch
   * @throws Error where the connection fails; an error status is an answer
   */
  send(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<ApiAnswer>;
  /** As `send`, but throws what the API says unless it succeeds. */
  expect(...call: Parameters<ApiClient['send']>): Promise<KubernetesObject>;
  /**
   * Calls back for each object that is there or changes, until the signal or until the API ends the
   * connection.
   * @param path of a list, without a query
   */
  watch(path: string, signal: AbortSignal, changed: (object: KubernetesObject) => void): Promise<void>;
}

/** @param ca the authority's certificate */
export function apiClient(url: string, ca: string, token: string): ApiClient {
  const agent = new Agent({ keepAlive: true, ca });
  const open = async (method: string, path: string, body?: unknown, signal?: AbortSignal) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const headers = { authorization: `Bearer ${token}`, 'content-type': type };
    const sent = request(new URL(path, url), { method, headers, agent, ...(signal && { signal }) });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response;
  };
  const send: ApiClient['send'] = async (method, path, body) => {
    const response = await open(method, path, body);
    const answer = await text(response);
    const isJson = response.headers['content-type']?.startsWith('application/json') === true;
    return {
      status: response.statusCode ?? 0,
      body: (isJson ? JSON.parse(answer) : { message: answer }) as KubernetesObject,
    };
  };
  return {
    send,
    async expect(method, path, body) {
      const answer = await send(method, path, body);
      if (answer.status < 300) return answer.body;
      throw new Error(`${method} ${path}: ${answer.status} ${String(answer.body.message)}`);
    },
    async watch(path, signal, changed) {
      // Without a version the API waits for news of etcd first, which old versions of it do not send.
      const response = await open('GET', `${path}?watch=1&resourceVersion=0`, undefined, signal);
      let rest = '';
      for await (const chunk of response.setEncoding('utf8')) {
        const lines = (rest + (chunk as string)).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const { type, object } = JSON.parse(line) as { type: string; object: KubernetesObject };
          if (type === 'ADDED' || type === 'MODIFIED') changed(object);
        }
      }
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}
