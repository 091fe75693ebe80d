/**
 * For tests: the server's side of the agent protocol in memory, as strict as specified, for a real agent.
 * Violations by the agent are collected in `problems`.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import {
  type AgentTimings,
  type AgentToken,
  GoodbyeRequest,
  type HeartbeatReply,
  HeartbeatRequest,
  type RegisterReply,
  RegisterRequest,
} from '#protocol/messages/agent.ts';
import {
  type HeldAttempt,
  MarkRequest,
  type StateQuery,
  type StateReply,
} from '#protocol/messages/attempt.ts';
import { ClaimRequest, type Job } from '#protocol/messages/job.ts';
import {
  type FinishReply,
  FinishRequest,
  type FinishRest,
  type Outcome,
} from '#protocol/messages/outcome.ts';
import { type ReportReply, ReportRequest, type RunEvent } from '#protocol/messages/report.ts';
import { protocolBase, protocolRoutes } from '#protocol/routes.ts';
import { endsStep } from '../src/ship/compose-report.ts';
import { attemptFolderName } from '../src/spool/layout.ts';

type CallName = keyof typeof protocolRoutes;

/** The server's record of one attempt. */
export interface ServedAttempt {
  readonly job: Job;
  readonly events: RunEvent[];
  readonly logs: Map<string, Buffer>;
  readonly endedSteps: Set<string>;
  mark: string | null;
  readonly states: { query: StateQuery; bytes: Buffer }[];
  readonly blobs: Map<string, Buffer>;
  outcome: Outcome | null;
  isOutdated: boolean;
  next: Job | null;
}

interface Exchange {
  readonly params: readonly string[];
  readonly query: Record<string, string>;
  readonly body: Buffer;
}

/** Thrown by `handOver` too, before anything is stored. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

const requestSchemas: Partial<Record<CallName, TSchema>> = {
  register: RegisterRequest,
  heartbeat: HeartbeatRequest,
  claim: ClaimRequest,
  goodbye: GoodbyeRequest,
  report: ReportRequest,
  mark: MarkRequest,
  finish: FinishRequest,
};

export class ProtocolServer implements AsyncDisposable {
  readonly problems: string[] = [];
  readonly attempts = new Map<string, ServedAttempt>();
  readonly heartbeats: HeartbeatRequest[] = [];
  readonly registrations: RegisterRequest[] = [];
  readonly goodbyes: GoodbyeRequest[] = [];
  readonly calls: CallName[] = [];
  /** Requested with the next heartbeat. */
  readonly aborts: HeartbeatReply['abort'] = [];
  readonly unwanted: HeldAttempt[] = [];
  /** Whether an outcome that brings what is left to send is refused. */
  refusesRest = false;
  settings: AgentTimings = { heartbeatSeconds: 1, offlineGraceSeconds: 60, abortSeconds: 5 };
  /** True: the call is executed and its answer is lost. */
  losesAnswer: (call: CallName) => boolean = () => false;
  /** True: the call is answered with 503. */
  isDown = false;
  /** The job that the answer to a finish contains. */
  handOver: (attempt: ServedAttempt, outcome: Outcome) => Job | null = () => null;
  /** Thrown for each state that an attempt sends. */
  stateRefusal: Refused | null = null;
  /** Contents for `getState`, by version. */
  readonly stateContents = new Map<string, Buffer>();
  epoch = 0;
  /** Of a token. */
  tokenSeconds = 3_600;
  #token = '';
  readonly #server: Server;
  readonly #queue: Job[] = [];
  readonly #waiting = new Set<() => void>();

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  enqueue(job: Job): void {
    this.#queue.push(job);
    for (const wake of this.#waiting) wake();
  }

  attempt(job: Pick<Job, 'jobId' | 'attempt'>): ServedAttempt | undefined {
    return this.attempts.get(attemptFolderName(job.jobId, job.attempt));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const wake of this.#waiting) wake();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => null);
    if (body === null) return;
    if (this.isDown) return void response.writeHead(503).end();
    try {
      const { call, exchange } = this.#route(request, body);
      this.calls.push(call);
      const value = await this.#carryOut(call, exchange, request);
      if (this.losesAnswer(call)) return void request.socket.destroy();
      if (Buffer.isBuffer(value)) return void response.writeHead(200).end(value);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    } catch (error) {
      const { status, code } = error instanceof Refused ? error : { status: 400, code: 'bad_request' };
      if (!(error instanceof Refused)) this.problems.push((error as Error).stack ?? '');
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ code, message: (error as Error).message, requestId: 'r' }));
    }
  }

  #route(request: IncomingMessage, body: Buffer): { call: CallName; exchange: Exchange } {
    const url = new URL(request.url ?? '', 'http://server');
    const path = url.pathname.slice(protocolBase.length);
    for (const [call, route] of Object.entries(protocolRoutes)) {
      const match = new RegExp(`^${route.path.replace(/\{\w+\}/g, '([^/]+)')}$`).exec(path);
      if (match && route.method === request.method)
        return {
          call: call as CallName,
          exchange: { params: match.slice(1), query: Object.fromEntries(url.searchParams), body },
        };
    }
    throw new Refused(404, 'not_found');
  }

  async #carryOut(call: CallName, exchange: Exchange, request: IncomingMessage): Promise<unknown> {
    const secret = `Basic ${Buffer.from('agent-key:agent-secret').toString('base64')}`;
    const takesSecret = call === 'register' || call === 'token';
    if (request.headers.authorization !== (takesSecret ? secret : `Bearer ${this.#token}`))
      throw new Refused(401, 'unauthorized');
    if (call !== 'register' && request.headers['x-envarium-epoch'] !== String(this.epoch))
      throw new Refused(409, 'epoch_replaced');
    if (call !== 'register' && request.headers['x-envarium-agent'] !== 'agent-1')
      throw new Refused(401, 'unauthorized');
    const schema = requestSchemas[call];
    const message: unknown = schema ? JSON.parse(exchange.body.toString()) : null;
    if (schema && !Compile(schema).Check(message))
      throw new Error(
        `${call}: the message does not fit its schema: ${exchange.body.toString().slice(0, 500)}`,
      );
    switch (call) {
      case 'register':
        return this.#register(message as RegisterRequest);
      case 'token':
        return this.issueToken();
      case 'heartbeat':
        return this.#heartbeat(message as HeartbeatRequest);
      case 'claim':
        return { job: await this.#claim(message as ClaimRequest, request) };
      case 'goodbye':
        this.goodbyes.push(message as GoodbyeRequest);
        return {};
      default:
        return this.#aboutAttempt(call, exchange, message);
    }
  }

  /** From now on, only this one is valid. */
  issueToken(): AgentToken {
    this.#token = `token-${this.epoch}-${this.calls.length}`;
    return { token: this.#token, expiresInSeconds: this.tokenSeconds };
  }

  #register(request: RegisterRequest): RegisterReply {
    this.registrations.push(request);
    this.epoch++;
    return {
      agentId: 'agent-1',
      epoch: this.epoch,
      token: this.issueToken(),
      settings: this.settings,
      now: new Date().toISOString(),
      unwanted: this.#unwantedOf(request.held),
    };
  }

  #heartbeat(request: HeartbeatRequest): HeartbeatReply {
    this.heartbeats.push(request);
    return {
      settings: this.settings,
      now: new Date().toISOString(),
      abort: this.aborts,
      unwanted: this.#unwantedOf(request.held),
    };
  }

  #unwantedOf(held: readonly HeldAttempt[]): HeldAttempt[] {
    return held.filter((one) => {
      const attempt = this.attempt(one);
      return !attempt || attempt.isOutdated || attempt.outcome !== null;
    });
  }

  async #claim(request: ClaimRequest, { socket }: IncomingMessage): Promise<Job | null> {
    if (this.#queue.length === 0)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => wake(), request.waitSeconds * 1000);
        const wake = () => {
          clearTimeout(timer);
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
      });
    // The agent was killed while it waited.
    if (socket.destroyed) return null;
    const job = this.#queue.shift() ?? null;
    if (job) this.add(job);
    return job;
  }

  /** Claimed, by whomever. */
  add(job: Job): void {
    this.attempts.set(attemptFolderName(job.jobId, job.attempt), {
      job,
      events: [],
      logs: new Map(),
      endedSteps: new Set(),
      mark: null,
      states: [],
      blobs: new Map(),
      outcome: null,
      isOutdated: false,
      next: null,
    });
  }

  #aboutAttempt(call: CallName, { params, query, body }: Exchange, message: unknown): unknown {
    const attempt = this.attempts.get(attemptFolderName(params[0] ?? '', Number(params[1])));
    if (!attempt) throw new Refused(409, 'fence_outdated');
    const fence = Number(query.fence ?? (message as { fence: number }).fence);
    if (call !== 'putState' && call !== 'finish' && (attempt.isOutdated || fence !== attempt.job.fence))
      throw new Refused(409, 'fence_outdated');
    switch (call) {
      case 'report':
        return this.#report(attempt, message as ReportRequest);
      case 'mark':
        return this.#mark(attempt, (message as MarkRequest).mark);
      case 'finish':
        return this.#finish(attempt, message as FinishRequest);
      case 'putState':
        return this.#putState(attempt, query as StateQuery, body);
      case 'getState':
        return (
          this.stateContents.get(attempt.job.state.current?.stateVersionId ?? '') ??
          this.#refuse(404, 'not_found')
        );
      case 'putBlob':
        return this.#putBlob(attempt, params[2] ?? '', query.sha256, body);
      case 'getBlob':
        return this.#findBlob(attempt, params[2] ?? '');
      default:
        return this.#refuse(404, 'not_found');
    }
  }

  #report(attempt: ServedAttempt, request: ReportRequest): ReportReply {
    const logs: Record<string, number> = {};
    for (const { step, offset, base64 } of request.logs) {
      const stored = attempt.logs.get(step) ?? Buffer.alloc(0);
      const bytes = Buffer.from(base64, 'base64');
      const known = stored.subarray(offset, offset + bytes.length);
      if (!known.equals(bytes.subarray(0, known.length)))
        this.problems.push(`${step}: a replay contained different bytes at ${offset}`);
      const fresh = offset <= stored.length ? bytes.subarray(stored.length - offset) : Buffer.alloc(0);
      if (fresh.length > 0 && attempt.endedSteps.has(step))
        this.problems.push(`${step}: log bytes after the step's end`);
      attempt.logs.set(step, Buffer.concat([stored, fresh]));
      logs[step] = stored.length + fresh.length;
    }
    if (request.eventsFrom <= attempt.events.length) {
      for (const event of request.events.slice(attempt.events.length - request.eventsFrom)) {
        attempt.events.push(event);
        if (endsStep(event)) attempt.endedSteps.add(event.step);
      }
    }
    return { events: attempt.events.length, logs, abort: null };
  }

  #mark(attempt: ServedAttempt, mark: string): unknown {
    if (attempt.mark !== null && attempt.mark !== mark) throw new Refused(409, 'mark_taken');
    attempt.mark = mark;
    return {};
  }

  #finish(attempt: ServedAttempt, { outcome, fence, rest }: FinishRequest): FinishReply {
    if (attempt.isOutdated || fence !== attempt.job.fence) throw new Refused(409, 'fence_outdated');
    if (rest && this.refusesRest) throw new Refused(409, 'rest_incomplete');
    if (rest && !attempt.outcome) this.#takeRest(attempt, rest);
    if (attempt.outcome) {
      if (JSON.stringify(attempt.outcome) !== JSON.stringify(outcome))
        throw new Refused(409, 'fence_outdated');
      return { next: attempt.next };
    }
    attempt.next = this.handOver({ ...attempt, outcome }, outcome);
    attempt.outcome = outcome;
    if (attempt.next) this.add(attempt.next);
    return { next: attempt.next };
  }

  #takeRest(attempt: ServedAttempt, { report, state, blobs = [] }: FinishRest): void {
    const bytesOf = (base64: string) => Buffer.from(base64, 'base64');
    if (report && report.eventsFrom > attempt.events.length) throw new Refused(409, 'rest_incomplete');
    if (report) this.#report(attempt, { fence: attempt.job.fence, ...report });
    if (state) {
      const query = { fence: String(attempt.job.fence), sha256: state.sha256, follows: state.follows };
      this.#putState(attempt, { ...query, moment: 'final' }, bytesOf(state.base64));
    }
    for (const { name, sha256: expected, base64 } of blobs)
      this.#putBlob(attempt, name, expected, bytesOf(base64));
  }

  #putState(attempt: ServedAttempt, query: StateQuery, bytes: Buffer): StateReply {
    if (sha256(bytes) !== query.sha256) throw new Error('putState: the checksum differs');
    if (this.stateRefusal) throw this.stateRefusal;
    attempt.states.push({ query, bytes });
    return { stateVersionId: `state-of-${attempt.job.jobId}-${attempt.job.attempt}`, standing: 'current' };
  }

  #putBlob(attempt: ServedAttempt, name: string, expected: string | undefined, bytes: Buffer): unknown {
    if (sha256(bytes) !== expected) throw new Error(`putBlob ${name}: the checksum differs`);
    attempt.blobs.set(name, bytes);
    return {};
  }

  #findBlob(attempt: ServedAttempt, name: string): Buffer {
    const planned = [...this.attempts.values()].find(
      (one) => one.job.deploymentId === attempt.job.deploymentId && one.blobs.has(name),
    );
    return planned?.blobs.get(name) ?? this.#refuse(404, 'not_found');
  }

  #refuse(status: number, code: string): never {
    throw new Refused(status, code);
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
