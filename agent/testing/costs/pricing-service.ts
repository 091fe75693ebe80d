/** For tests: a service that answers infracost's questions for prices, as its makers' and self-hosted ones do. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** Behaviour: prices, or a service with a problem. */
export type PricingMood = 'prices' | 'refuses' | 'nonsense' | 'silence' | 'no prices';

export interface PricingService {
  readonly url: string;
  /** Requests: paths, keys and bodies. */
  readonly requests: { readonly path: string; readonly key: string | undefined; readonly body: string }[];
  mood: PricingMood;
}

const priced = { data: { products: [{ prices: [{ priceHash: 'product-price', USD: '0.1', EUR: '0.2' }] }] } };

function answerOf(mood: PricingMood, body: string): string {
  if (mood === 'refuses') return JSON.stringify({ error: 'Invalid API key' });
  if (mood === 'nonsense') return '<html>hello</html>';
  const queries: unknown = JSON.parse(body || '[]');
  const answer = mood === 'prices' ? priced : { data: { products: [] } };
  return JSON.stringify(Array.isArray(queries) ? queries.map(() => answer) : {});
}

/** Starts a service with the same price for everything; it ends with the test. */
export async function startPricingService(t: TestContext): Promise<PricingService> {
  const service = { url: '', requests: [] as PricingService['requests'], mood: 'prices' as PricingMood };
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString();
      service.requests.push({ path: request.url ?? '', key: request.headers['x-api-key']?.toString(), body });
      if (service.mood === 'silence') return;
      response.statusCode = service.mood === 'refuses' ? 403 : 200;
      response.setHeader('content-type', 'application/json').end(answerOf(service.mood, body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return service;
}
