/** The token with which a process calls: got with the secret of its agent, and renewed before it ends. */
import type { IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import { json } from 'node:stream/consumers';
import { Compile } from 'typebox/compile';
import { AgentToken } from '#protocol/messages/agent.ts';
import type { protocolRoutes } from '#protocol/routes.ts';
import type { Secret } from '#settings/secret.ts';
import { ServerRefusal } from './refusals.ts';

type CallName = keyof typeof protocolRoutes;

/** Share of its lifetime after which a token is renewed: it then outlasts a short outage. */
const renewedAfter = 0.5;
const timeoutSeconds = 10;
const retryMilliseconds = 30_000;
const tokenForm = Compile(AgentToken);

/** Whether a call carries the secret itself. */
export function takesSecret(name: CallName): boolean {
  return name === 'register' || name === 'token';
}

export interface TokenCall {
  readonly name: 'token';
  readonly json: object;
  readonly timeoutSeconds: number;
}

interface Current {
  readonly header: string;
  /** By a clock that no one sets. */
  readonly renewAt: number;
  readonly endsAt: number;
}

export class ProcessToken {
  /** The header with the secret. */
  readonly ofSecret: string;
  readonly #send: (call: TokenCall) => Promise<IncomingMessage>;
  #current: Current | undefined;
  /** The renewal that is under way: the calls of all runs wait for the same one. */
  #renewal: Promise<string> | undefined;

  /** @param send sends a call with the secret, once */
  constructor(
    { agentKey, agentSecret }: { readonly agentKey: string; readonly agentSecret: Secret },
    send: (call: TokenCall) => Promise<IncomingMessage>,
  ) {
    this.ofSecret = `Basic ${Buffer.from(`${agentKey}:${agentSecret.reveal()}`).toString('base64')}`;
    this.#send = send;
  }

  use({ token, expiresInSeconds }: AgentToken): void {
    const now = performance.now();
    const milliseconds = expiresInSeconds * 1000;
    const renewAt = now + milliseconds * renewedAfter;
    this.#current = { header: `Bearer ${token}`, renewAt, endsAt: now + milliseconds };
  }

  /** The header for a call: a token that has not ended serves while the service cannot renew it. @throws as for `renew` */
  async authorizationOf(name: CallName): Promise<string> {
    if (takesSecret(name) || !this.#current) return this.ofSecret;
    const { header, renewAt, endsAt } = this.#current;
    if (performance.now() < renewAt) return header;
    try {
      return await this.renew(header);
    } catch (error) {
      const now = performance.now();
      if (now >= endsAt || error instanceof ServerRefusal) throw error;
      this.#current = { header, renewAt: Math.min(endsAt, now + retryMilliseconds), endsAt };
      return header;
    }
  }

  /**
   * @param used the header that is replaced, unless another call has replaced it already
   * @returns the new header
   * @throws ServerRefusal for a secret that the service does not accept any more, or a network error
   */
  async renew(used: string): Promise<string> {
    if (this.#current && this.#current.header !== used) return this.#current.header;
    this.#renewal ??= this.#exchange().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #exchange(): Promise<string> {
    const token: unknown = await json(await this.#send({ name: 'token', json: {}, timeoutSeconds }));
    if (!tokenForm.Check(token)) throw new Error('the reply to token does not have the expected form');
    this.use(token);
    return this.#current?.header ?? this.ofSecret;
  }
}
