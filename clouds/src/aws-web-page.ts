/**
 * Answers of others in the place of AWS. Proxies, gateways and wrong addresses answer with a web page, which the SDK takes
 * for an error without a message, or with status 200 for an answer without content: no stacks, an upload that succeeded.
 */
import { buffer } from 'node:stream/consumers';
import { shownText } from './exchange.ts';

/** The message is a sentence without its beginning. */
export class WebPageAnswer extends Error {
  override readonly name = 'WebPageAnswer';
  /** By its status, the SDK decides whether to ask again. */
  readonly $metadata: { readonly httpStatusCode: number };

  constructor(status: number, page: string) {
    const title = shownText(/<title[^>]*>([^<]{1,200})/i.exec(page)?.[1]?.trim() ?? '');
    super(
      `a web page was answered instead of AWS (status ${status}${title === '' ? '' : `, "${title}"`}): ` +
        'check the address (AWS_ENDPOINT_URL, AWS_REGION) and the proxy of the agent (HTTPS_PROXY, NO_PROXY)',
    );
    this.$metadata = { httpStatusCode: status };
  }
}

interface AwsResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  body?: unknown;
}

function isAnswer(response: unknown): response is AwsResponse {
  return (
    typeof response === 'object' && response !== null && 'statusCode' in response && 'headers' in response
  );
}

/** Programs that speak the protocols of AWS may name their answers HTML, too. */
async function expectNoPage(response: unknown): Promise<void> {
  if (!isAnswer(response) || !/^text\/html/i.test(response.headers['content-type'] ?? '')) return;
  const content = await buffer(response.body as AsyncIterable<Buffer>);
  response.body = content;
  const page = content.toString('utf8', 0, 10_000);
  if (/<(?:!doctype html|html)\b/i.test(page)) throw new WebPageAnswer(response.statusCode, page);
}

/** Position of the middleware: before the SDK reads the response. */
export const beforeReading = { step: 'deserialize', priority: 'low', name: 'refuseWebPages' } as const;

/** Middleware of a client of AWS. */
export const refuseWebPages =
  <Request, Result extends { readonly response: unknown }>(next: (request: Request) => Promise<Result>) =>
  async (request: Request): Promise<Result> => {
    const result = await next(request);
    await expectNoPage(result.response);
    return result;
  };
