/** An agent that does nothing on its own: tests make each call of the protocol. */
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { InjectOptions, LightMyRequestResponse as Response } from 'fastify';
import type { AgentIsolation } from '#contract/agents/shapes.ts';
import { fillPath } from '#contract/client/fill-path.ts';
import type { AgentToken, HeartbeatReply, RegisterReply } from '#protocol/messages/agent.ts';
import { protocolVersion } from '#protocol/messages/agent.ts';
import type { HeldAttempt } from '#protocol/messages/attempt.ts';
import type { ClaimReply, Job } from '#protocol/messages/job.ts';
import type { FinishReply, Outcome } from '#protocol/messages/outcome.ts';
import type { ReportReply, ReportRequest } from '#protocol/messages/report.ts';
import { protocolBase, protocolRoutes } from '#protocol/routes.ts';
import { builtInAgentKey, type FirstKey, renewBuiltInSecret } from '../src/start/bootstrap.ts';
import type { TestApp } from './app.ts';
import { basic } from './client.ts';

const nothing = createHash('sha256').digest('hex');

export function sha256(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A state file of version 4. @param names of its managed resources */
export function stateFile(serial: number, names: readonly string[] = [], lineage = 'lineage'): string {
  const resources = names.map((name) => ({ mode: 'managed', type: 'terraform_data', name, instances: [{}] }));
  return JSON.stringify({ version: 4, terraform_version: '1.11.4', serial, lineage, outputs: {}, resources });
}

/** In the outcome of a plan that finds nothing to do. */
export const emptyPlan = {
  hasChanges: false,
  hasResourceChanges: false,
  planSummary: { added: 0, changed: 0, destroyed: 0 },
} as const;

/** A plan phase that ended well. */
export function plannedOutcome(more: Partial<Outcome> = {}): Outcome {
  return {
    result: 'planned',
    finishedAt: new Date().toISOString(),
    commit: 'c'.repeat(40),
    toolVersion: '1.11.4',
    plan: { resourceChanges: [], outputChanges: [] },
    planSummary: { added: 1, changed: 0, destroyed: 0 },
    hasChanges: true,
    hasResourceChanges: true,
    approvedParts: {
      planFile: sha256(randomBytes(8)),
      commit: 'c'.repeat(40),
      toolVersion: '1.11.4',
      lockFile: nothing,
      variables: nothing,
    },
    workFolder: '/srv/work',
    isStateOurs: true,
    ...more,
  };
}

/** An apply phase that ended well. */
export function appliedOutcome(more: Partial<Outcome> = {}): Outcome {
  return {
    result: 'applied',
    finishedAt: new Date().toISOString(),
    outputs: {},
    resources: [],
    resourceCount: 0,
    isStateOurs: true,
    ...more,
  };
}

type CallName = keyof typeof protocolRoutes;

/** Isolation of the runs of an agent. */
export const testIsolation: AgentIsolation = {
  hasNamespaces: true,
  hasSystemCallFilter: true,
  hasOwnUsers: false,
  network: 'host',
  hasControlGroups: true,
  controllers: ['pids', 'memory'],
  limits: {
    processes: 2048,
    openFiles: 16_384,
    memoryMegabytes: 8192,
    diskMegabytes: 20_480,
    fileMegabytes: 10_240,
  },
};

export class TestAgent {
  readonly #test: TestApp;
  readonly #key: FirstKey;
  readonly spoolId = randomUUID();
  agentId = '';
  epoch = 0;
  /** The header of its calls, with its end. */
  #token: { readonly header: string; readonly until: number } | undefined;

  /** @param key absent: that of the built-in agent */
  constructor(test: TestApp, secret: string, key: string = builtInAgentKey) {
    this.#test = test;
    this.#key = { id: key, secret };
  }

  /** Another process under the same key, with a spool of its own; not yet registered. */
  sibling(): TestAgent {
    return new TestAgent(this.#test, this.#key.secret, this.#key.id);
  }

  /** Any call of the protocol. */
  async send(
    name: CallName,
    place: Partial<HeldAttempt> & { blob?: string; query?: Record<string, string> },
    message?: object | string,
  ): Promise<Response> {
    const { method, path } = protocolRoutes[name];
    const url = fillPath(path, {
      jobId: place.jobId,
      attempt: place.attempt?.toString(),
      name: place.blob,
    });
    const options: InjectOptions = {
      method,
      url: `${protocolBase}${url}${place.query ? `?${new URLSearchParams(place.query).toString()}` : ''}`,
      headers: {
        authorization: await this.#authorization(name),
        'x-envarium-agent': this.agentId,
        'x-envarium-epoch': String(this.epoch),
        ...(message === undefined
          ? {}
          : {
              'content-type': typeof message === 'string' ? 'application/octet-stream' : 'application/json',
            }),
      },
      ...(message === undefined
        ? {}
        : { payload: typeof message === 'string' ? message : JSON.stringify(message) }),
    };
    const response = await this.#test.app.inject(options);
    assert.notEqual(response.statusCode, 500, `${path} failed: ${this.#test.logged.at(-1)}`);
    return response;
  }

  /** Its secret for calls that give it a token, which it sends with all others, as an agent does. */
  async #authorization(name: CallName): Promise<string> {
    const { context } = this.#test;
    if (name === 'register' || name === 'token') return basic(this.#key);
    if (this.#token && this.#token.until <= context.now().getTime()) {
      const renewed = await this.send('token', {});
      if (renewed.statusCode === 200) this.useToken(renewed.json<AgentToken>());
    }
    return this.#token?.header ?? basic(this.#key);
  }

  useToken({ token, expiresInSeconds }: AgentToken): void {
    const until = this.#test.context.now().getTime() + expiresInSeconds * 1000;
    this.#token = { header: `Bearer ${token}`, until };
  }

  async #take<T>(
    name: CallName,
    place: Parameters<TestAgent['send']>[1],
    message?: object | string,
  ): Promise<T> {
    const response = await this.send(name, place, message);
    assert.equal(response.statusCode, 200, `${name}: ${response.body}`);
    return response.json() as T;
  }

  async register(held: HeldAttempt[] = [], more: object = {}): Promise<RegisterReply> {
    const reply = await this.#take<RegisterReply>(
      'register',
      {},
      {
        protocol: protocolVersion,
        agentVersion: '0.1.0',
        spoolId: this.spoolId,
        bootId: 'boot',
        hostname: 'host',
        processId: 1,
        tools: ['terraform'],
        workFolder: '/srv/work',
        slots: 2,
        isolation: testIsolation,
        held,
        ...more,
      },
    );
    this.agentId = reply.agentId;
    this.epoch = reply.epoch;
    this.useToken(reply.token);
    return reply;
  }

  heartbeat(held: HeldAttempt[]): Promise<HeartbeatReply> {
    return this.#take('heartbeat', {}, { epoch: this.epoch, held, freeSlots: 1 });
  }

  async goodbye(): Promise<void> {
    await this.#take('goodbye', {}, { epoch: this.epoch, held: [] });
  }

  /** @param waitSeconds how long the service may hold the call */
  async claimAny(waitSeconds = 0): Promise<Job | null> {
    return (await this.#take<ClaimReply>('claim', {}, { epoch: this.epoch, waitSeconds })).job;
  }

  /** The next job. */
  async claim(): Promise<Job> {
    const job = await this.claimAny();
    assert.ok(job, 'there is a job to claim');
    return job;
  }

  report(job: HeldAttempt, more: Partial<ReportRequest>): Promise<ReportReply> {
    return this.#take('report', job, { fence: job.fence, eventsFrom: 0, events: [], logs: [], ...more });
  }

  async mark(job: HeldAttempt, mark: string = randomUUID()): Promise<string> {
    await this.#take('mark', job, { fence: job.fence, mark });
    return mark;
  }

  putState(
    job: HeldAttempt,
    state: string,
    follows: string,
    moment: 'running' | 'final' = 'final',
  ): Promise<{ stateVersionId: string; standing: string }> {
    return this.#take(
      'putState',
      { ...job, query: { fence: String(job.fence), sha256: sha256(state), follows, moment } },
      state,
    );
  }

  async putBlob(job: HeldAttempt, blob: string, content: string): Promise<void> {
    await this.#take(
      'putBlob',
      { ...job, blob, query: { fence: String(job.fence), sha256: sha256(content) } },
      content,
    );
  }

  async finish(job: HeldAttempt, outcome: Outcome): Promise<Job | null> {
    return (await this.#take<FinishReply>('finish', job, { fence: job.fence, outcome })).next;
  }

  /** Takes the next job through a good plan. @returns the apply that follows at once, or null */
  async plan(more: Partial<Outcome> = {}): Promise<Job | null> {
    return this.finish(await this.claim(), plannedOutcome(more));
  }

  /** Plans the next job and applies it, which needs no approval. @param names resources of the new state */
  async run(names: readonly string[] = ['a'], planned: Partial<Outcome> = {}): Promise<string> {
    const next = await this.plan(planned);
    assert.ok(next, 'the apply follows at once');
    return this.apply(next, names);
  }

  /** Applies a job: mark, state, outcome. @param names resources of the new state */
  async apply(job: Job, names: readonly string[] = ['a'], more: Partial<Outcome> = {}): Promise<string> {
    await this.mark(job);
    const { current } = job.state;
    const { stateVersionId } = await this.putState(
      job,
      stateFile((current?.serial ?? 0) + 1, names, current?.lineage ?? job.environmentId),
      current?.stateVersionId ?? '',
    );
    const resources = names.map((name) => ({
      provider: 'terraform',
      type: 'terraform_data',
      name,
      moduleName: '',
    }));
    await this.finish(
      job,
      appliedOutcome({ resources, resourceCount: resources.length, stateVersionId, ...more }),
    );
    return stateVersionId;
  }
}

/** A registered agent under the key of the built-in agent. */
export async function testAgent(test: TestApp): Promise<TestAgent> {
  const agent = new TestAgent(test, await renewBuiltInSecret(test.context, null));
  await agent.register();
  return agent;
}

/** An agent of one organization, without secrets. */
export async function addAgent(test: TestApp, key: string, organizationId: string): Promise<void> {
  await test.context.db
    .insertInto('agent')
    .values({
      agent_key: key,
      id: randomUUID(),
      organization_id: organizationId,
      name: key,
      created_by: test.admin.id,
    })
    .execute();
}
