/** What a command's exit status says. */
import { ApiError } from '#contract/client/client.ts';
import type { DeploymentStatus } from '#contract/schema/enumerations.ts';

export const exitCodes = {
  good: 0,
  /** A deployment did not succeed, or the service failed. */
  failed: 1,
  /** The call was wrong: usage, a refusal, an unknown name, no service at the address. */
  badCall: 2,
  /** Of `drift` alone: there is drift. Its errors have status 1, so that scripts can tell them apart. */
  drifted: 2,
  /** The deployment waits for a person to approve its plan. */
  waiting: 3,
  interrupted: 130,
  /** Whoever read the output has gone; the status of a program that SIGPIPE ends. */
  brokenPipe: 141,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A call that cannot be carried out. `message` names what is wrong and what to do. */
export class BadCall extends Error {
  override readonly name = 'BadCall';
}

/** An error with the exit status that it ends its command with. */
export class CodedError extends Error {
  readonly exitCode: ExitCode;

  constructor(cause: unknown, exitCode: ExitCode) {
    super('a command failed', { cause });
    this.exitCode = exitCode;
  }
}

/**
 * What a followed deployment's status means; one that is not over and not waiting for a person has no failure
 * yet.
 */
export function exitCodeOfStatus(status: DeploymentStatus): ExitCode {
  switch (status) {
    case 'SUCCESS':
    case 'NEVER_DEPLOYED':
    case 'QUEUED':
    case 'IN_PROGRESS':
    case 'ABORTING':
      return exitCodes.good;
    case 'WAITING_FOR_USER':
      return exitCodes.waiting;
    case 'FAILURE':
    case 'INTERNAL_FAILURE':
    case 'TIMEOUT':
    case 'ABORTED':
    case 'CANCELLED':
    case 'SKIPPED':
      return exitCodes.failed;
  }
}

/** What an error that ended a command means. */
export function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof BadCall) return exitCodes.badCall;
  if (error instanceof ApiError && error.status < 500) return exitCodes.badCall;
  return exitCodes.failed;
}
