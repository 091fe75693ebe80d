/** The calls of the agent protocol over HTTP. A refusal of the server is thrown as a `ServerRefusal`. */
import { buffer } from 'node:stream/consumers';
import {
  answerSeconds,
  type GoodbyeRequest,
  HeartbeatReply,
  type HeartbeatRequest,
  Nothing,
  RegisterReply,
  type RegisterRequest,
} from '#protocol/messages/agent.ts';
import {
  type BlobName,
  type HeldAttempt,
  type MarkRequest,
  type StateQuery,
  StateReply,
} from '#protocol/messages/attempt.ts';
import { ClaimReply, type ClaimRequest } from '#protocol/messages/job.ts';
import { FinishReply, type FinishRest, type Outcome } from '#protocol/messages/outcome.ts';
import { ReportReply, type ReportRequest } from '#protocol/messages/report.ts';
import { CallSender, type ConnectionOptions } from './send.ts';
import type { ServerClock } from './server-clock.ts';

/** The attempt that a call concerns. */
export type AttemptRef = HeldAttempt;

export interface FinishOptions {
  readonly receivedAt?: string | undefined;
  readonly rest?: FinishRest | undefined;
  readonly signal?: AbortSignal;
}

/** Connects with the first call, which must be `register`. */
export function connectToServer(options: ConnectionOptions) {
  const sender = new CallSender(options);
  return {
    ...agentCalls(sender),
    ...attemptCalls(sender),
    ...stateCalls(sender),
    ...blobCalls(sender),
  };
}

export type ServerConnection = ReturnType<typeof connectToServer>;

const paramsOf = ({ jobId, attempt }: AttemptRef) => ({ jobId, attempt: String(attempt) });

function agentCalls(sender: CallSender) {
  return {
    async register(body: RegisterRequest, signal?: AbortSignal): Promise<RegisterReply> {
      const reply = await sender.json(RegisterReply, { name: 'register', json: body, signal });
      const headers = { 'x-envarium-agent': reply.agentId, 'x-envarium-epoch': String(reply.epoch) };
      sender.identify(headers, reply.token);
      return reply;
    },
    /** @param compose called each time that the call is sent: a list from before an outage would be wrong */
    heartbeat: (compose: () => HeartbeatRequest, signal?: AbortSignal): Promise<HeartbeatReply> =>
      sender.json(HeartbeatReply, { name: 'heartbeat', json: compose, signal, timeoutSeconds: 10 }),
    claim: (body: ClaimRequest, signal?: AbortSignal): Promise<ClaimReply> =>
      sender.json(ClaimReply, { name: 'claim', json: body, signal, timeoutSeconds: answerSeconds }),
    /** Sent once: an agent that signs off does not wait for an unreachable server. */
    goodbye: (body: GoodbyeRequest): Promise<unknown> =>
      sender.json(Nothing, { name: 'goodbye', json: body, timeoutSeconds: 2, isRepeated: false }),
  };
}

function attemptCalls(sender: CallSender) {
  return {
    report: (
      attempt: AttemptRef,
      body: Omit<ReportRequest, 'fence'>,
      signal?: AbortSignal,
    ): Promise<ReportReply> =>
      sender.json(ReportReply, {
        name: 'report',
        params: paramsOf(attempt),
        json: () => ({ fence: attempt.fence, ...atServerTime(body, sender.clock) }),
        signal,
      }),
    mark: (attempt: AttemptRef, mark: Omit<MarkRequest, 'fence'>, signal?: AbortSignal): Promise<unknown> =>
      sender.json(Nothing, {
        name: 'mark',
        params: paramsOf(attempt),
        json: { fence: attempt.fence, ...mark },
        signal,
      }),
    /** @param receivedAt when this process received the attempt; undefined: an earlier one did */
    finish: (
      attempt: AttemptRef,
      outcome: Outcome,
      { receivedAt, rest, signal }: FinishOptions = {},
    ): Promise<FinishReply> =>
      sender.json(FinishReply, {
        name: 'finish',
        params: paramsOf(attempt),
        json: () => ({
          fence: attempt.fence,
          outcome,
          times: {
            ...(receivedAt === undefined ? {} : { receivedAt: sender.clock.of(receivedAt) }),
            sentAt: sender.clock.of(new Date().toISOString()),
          },
          ...(rest === undefined
            ? {}
            : { rest: { ...rest, report: rest.report && atServerTime(rest.report, sender.clock) } }),
        }),
        signal,
      }),
  };
}

/** A report with the times of its events by the clock of the service. */
function atServerTime<R extends Pick<ReportRequest, 'events'>>(report: R, clock: ServerClock): R {
  return { ...report, events: report.events.map((event) => ({ ...event, at: clock.of(event.at) })) };
}

function stateCalls(sender: CallSender) {
  return {
    /** Stores a state; its bytes are the body. */
    putState: (
      attempt: AttemptRef,
      query: Omit<StateQuery, 'fence'>,
      bytes: Uint8Array,
      signal?: AbortSignal,
    ): Promise<StateReply> =>
      sender.json(StateReply, {
        name: 'putState',
        params: paramsOf(attempt),
        query: { fence: String(attempt.fence), ...query },
        bytes,
        signal,
      }),
    /** The state version that the attempt follows. */
    getState: (attempt: AttemptRef, signal?: AbortSignal): Promise<Uint8Array> =>
      sender.send(
        {
          name: 'getState',
          params: paramsOf(attempt),
          query: { fence: String(attempt.fence) },
          signal,
        },
        buffer,
      ),
  };
}

function blobCalls(sender: CallSender) {
  return {
    /** Stores a file of the attempt, streamed from disk. */
    putBlob(
      attempt: AttemptRef,
      name: BlobName,
      sha256: string,
      file: string,
      signal?: AbortSignal,
    ): Promise<unknown> {
      return sender.json(Nothing, {
        name: 'putBlob',
        params: { ...paramsOf(attempt), name },
        query: { fence: String(attempt.fence), sha256 },
        bytes: { file },
        signal,
      });
    },
    /**
     * Fetches the packed tree; `store` gets the bytes from the beginning each time that the transfer has to
     * start again.
     */
    getBlob: (
      attempt: AttemptRef,
      name: BlobName,
      store: (bytes: AsyncIterable<Uint8Array>) => Promise<void>,
      signal?: AbortSignal,
    ): Promise<void> =>
      sender.send(
        {
          name: 'getBlob',
          params: { ...paramsOf(attempt), name },
          query: { fence: String(attempt.fence) },
          signal,
        },
        (answer) => store(answer),
      ),
  };
}
