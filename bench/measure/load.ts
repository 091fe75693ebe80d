/** Load on one address from a fixed number of connections, each with one request at a time. */
import { Agent, get, type RequestOptions } from 'node:http';

export interface Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly milliseconds: number;
}

export interface LoadResult {
  readonly perSecond: number;
  /** Of each request, in milliseconds. */
  readonly latencies: readonly number[];
}

function requestOnce(url: string, options: RequestOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, options, (response) => {
      response.on('error', reject).on('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`${url} answers ${response.statusCode}`));
      });
      response.resume();
    });
    request.on('error', reject);
  });
}

/** Does something again and again, several times at once, for a time. */
export async function repeat(
  work: () => Promise<void>,
  { parallel, milliseconds }: { readonly parallel: number; readonly milliseconds: number },
): Promise<LoadResult> {
  const latencies: number[] = [];
  const start = performance.now();
  const repeatOne = async () => {
    while (performance.now() - start < milliseconds) {
      const before = performance.now();
      await work();
      latencies.push(performance.now() - before);
    }
  };
  await Promise.all(Array.from({ length: parallel }, repeatOne));
  return { perSecond: (latencies.length / (performance.now() - start)) * 1000, latencies };
}

/** @throws Error for a status other than 200 */
export async function putLoad({ url, headers, connections, milliseconds }: Load): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  try {
    return await repeat(() => requestOnce(url, { agent, headers }), { parallel: connections, milliseconds });
  } finally {
    agent.destroy();
  }
}
