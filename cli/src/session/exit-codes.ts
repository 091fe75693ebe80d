/** Meaning of the exit status of a command. */
import { ApiError } from '#contract/client/client.ts';
import type { DeploymentStatus, StepStatus } from '#contract/schema/enumerations.ts';

export const exitCodes = {
  good: 0,
  /** A deployment did not succeed, or the service failed. */
  failed: 1,
  /** A wrong call: usage, a refusal, an unknown name, no service at the address. */
  badCall: 2,
  /** Only of `drift`: there is drift. Its errors have status 1, so that scripts can tell them apart. */
  drifted: 2,
  /** The deployment waits for approval. */
  waiting: 3,
  interrupted: 130,
  /** The reader of the output has exited; the status of a program that SIGPIPE ends. */
  brokenPipe: 141,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A call that cannot be carried out. `message` says what is wrong and what to do. */
export class BadCall extends Error {
  override readonly name = 'BadCall';
}

/** An error with its exit status. */
export class CodedError extends Error {
  readonly exitCode: ExitCode;

  constructor(cause: unknown, exitCode: ExitCode) {
    super('a command failed', { cause });
    this.exitCode = exitCode;
  }
}

/** The exit status for the status of a followed deployment; one that is not over yet has not failed. */
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

/** The exit status for the status of a step that has ended. One that was skipped was not needed. */
export function exitCodeOfStep(status: StepStatus): ExitCode {
  return ['SUCCESS', 'WARNING', 'SKIPPED'].includes(status) ? exitCodes.good : exitCodes.failed;
}

/** The exit status for an error. */
export function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof BadCall) return exitCodes.badCall;
  if (error instanceof ApiError && error.status < 500) return exitCodes.badCall;
  return exitCodes.failed;
}
