/** Follows a deployment: its log live, its steps with their durations, and what came out. */
import type { Deployment, Step } from '#contract/deployments/shapes.ts';
import type { DeploymentStreamEvent, DeploymentStatusEvent } from '#contract/feeds/shapes.ts';
import { isPassing } from '#contract/client/passing-errors.ts';
import pRetry from 'p-retry';
import { durationBetween } from './terminal/durations.ts';
import type { FollowFlags } from './follow-flags.ts';
import { type ExitCode, exitCodeOfStatus, exitCodes } from './exit-codes.ts';
import { LogPrinter } from './terminal/log-printer.ts';
import { plain } from './terminal/plain-text.ts';
import { type Session, tell } from './session/session.ts';
import { showResult } from './show-deployment.ts';

export interface FollowOptions {
  /** Only this step's log, and nothing else. */
  readonly step?: string;
  /** Waits without showing anything before the result. */
  readonly isQuiet?: boolean;
  /** Shows nothing at the end: the caller does. */
  readonly hasNoResult?: boolean;
  /** Steps that were shown already. */
  readonly hiddenSteps?: ReadonlySet<string>;
}

/** Repeats a request while the service is unreachable for a moment, as during a restart. @throws ApiError */
function patiently<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  return pRetry(ask, {
    retries: Number.POSITIVE_INFINITY,
    maxRetryTime: 30_000,
    minTimeout: 500,
    factor: 1,
    signal,
    shouldRetry: ({ error }) => isPassing(error),
  });
}

const isOver = (step: Step) => !['NOT_STARTED', 'IN_PROGRESS', 'WAITING_FOR_USER'].includes(step.status);

/** Shows events as text. */
class EventPrinter {
  readonly #output: Session['output'];
  readonly #log: LogPrinter;
  readonly #options: FollowOptions;
  #headed = '';
  #lastWait = '';
  /** What is told again from before the approval is not shown twice. */
  #isBeforeApproval: boolean;

  constructor(output: Session['output'], options: FollowOptions) {
    this.#output = output;
    this.#log = new LogPrinter(output);
    this.#options = options;
    this.#isBeforeApproval = options.hiddenSteps !== undefined;
  }

  async print(event: DeploymentStreamEvent): Promise<void> {
    if (event.event === 'log' && this.#isShown(event.data.step)) {
      await this.#head(event.data.step);
      await this.#log.print(event.data);
    }
    if (this.#options.step !== undefined) return;
    if (event.event === 'step' && this.#isShown(event.data.name)) await this.#step(event.data);
    if (event.event === 'status') await this.#status(event.data);
  }

  async end(): Promise<void> {
    await this.#log.endLine();
  }

  #isShown(step: string): boolean {
    if (this.#options.step !== undefined) return step === this.#options.step;
    return this.#options.hiddenSteps?.has(step) !== true;
  }

  async #head(step: string): Promise<void> {
    if (step === this.#headed || this.#options.step !== undefined) return;
    await this.#log.endLine();
    this.#headed = step;
    await this.#output.line(
      this.#output.style(['bold', 'cyan'], `${this.#output.signs('▸')} ${plain(step)}`),
    );
  }

  async #step(step: Step): Promise<void> {
    if (step.status === 'IN_PROGRESS') return this.#head(step.name);
    if (!isOver(step) || step.status === 'SKIPPED') return;
    await this.#log.endLine();
    const duration = durationBetween(step.startedAt, step.completedAt);
    const text = `${plain(step.name)}${duration === '' ? '' : ` (${duration})`}`;
    if (step.status === 'SUCCESS')
      await this.#output.line(this.#output.style('green', `${this.#output.signs('✔')} ${text}`));
    else
      await this.#output.line(
        this.#output.style(
          step.status === 'WARNING' ? 'yellow' : 'red',
          `${this.#output.signs('✖')} ${text} ${step.status}`,
        ),
      );
  }

  async #status({ status, waitingFor }: DeploymentStatusEvent): Promise<void> {
    const text =
      status === 'ABORTING'
        ? 'Aborting'
        : waitingFor && waitingFor.kind !== 'approval'
          ? waitingFor.text
          : '';
    if (status === 'WAITING_FOR_USER') this.#isBeforeApproval = false;
    if (text === '' || text === this.#lastWait || this.#isBeforeApproval) return;
    this.#lastWait = text;
    await this.#log.endLine();
    await this.#output.line(this.#output.style('dim', `${this.#output.signs('…')} ${plain(text)}`));
  }
}

/**
 * Whether nothing more is to come for now: the followed step has ended, or the plan waits for a person at
 * this moment.
 */
async function isEnough(
  session: Session,
  id: string,
  event: DeploymentStreamEvent,
  { step }: FollowOptions,
  signal: AbortSignal,
): Promise<boolean> {
  if (step !== undefined) return event.event === 'step' && event.data.name === step && isOver(event.data);
  if (event.event !== 'status' || event.data.status !== 'WAITING_FOR_USER') return false;
  // The stream tells the whole story again: somebody may have approved long ago.
  const { status } = await patiently(
    () => session.client.call('getDeployment', { params: { id }, query: { fields: 'status' } }),
    signal,
  );
  return status === 'WAITING_FOR_USER';
}

async function showEvents(
  session: Session,
  id: string,
  options: FollowOptions,
  signal: AbortSignal,
): Promise<void> {
  const printer = new EventPrinter(session.output, options);
  try {
    for await (const event of session.client.stream('streamDeployment', { params: { id }, signal })) {
      if (!options.isQuiet) {
        if (session.isJson) await session.output.json(event, true);
        else await printer.print(event);
      }
      if (await isEnough(session, id, event, options, signal)) break;
    }
  } finally {
    await printer.end();
  }
}

async function followUntilEnd(
  session: Session,
  id: string,
  options: FollowOptions,
  signal: AbortSignal,
): Promise<ExitCode> {
  await showEvents(session, id, options, signal);
  const deployment: Deployment = await patiently(
    () => session.client.call('getDeployment', { params: { id } }),
    signal,
  );
  if (options.hasNoResult) return exitCodeOfStatus(deployment.status);
  if (session.isJson && options.isQuiet) await session.output.json(deployment);
  else if (session.isJson) await session.output.json({ event: 'deployment', data: deployment }, true);
  else if (options.step === undefined) await showResult(session.output, id, deployment);
  return exitCodeOfStatus(deployment.status);
}

/**
 * Follows a deployment until it is over or waits for a person. Ctrl-C ends the following, not the deployment.
 * @param id of the deployment
 * @returns the exit status: of the deployment's result, or 130 after Ctrl-C
 * @throws ApiError
 */
export async function follow(session: Session, id: string, options: FollowOptions = {}): Promise<ExitCode> {
  const interrupt = new AbortController();
  const onInterrupt = () => interrupt.abort();
  process.on('SIGINT', onInterrupt);
  try {
    return await followUntilEnd(session, id, options, interrupt.signal);
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    tell(
      `No longer following: the deployment goes on.\nFollow it again:  envarium logs ${id} --follow\nAbort it:         envarium abort ${id}`,
    );
    return exitCodes.interrupted;
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

/**
 * Shows a deployment that was just started, and follows it or waits for it where that was asked for. @returns
 * the exit status
 */
export async function showStarted(
  session: Session,
  deployment: Deployment & { id: string },
  environmentName: string,
  { follow: isFollowed = false, wait: isAwaited = false }: FollowFlags,
): Promise<ExitCode> {
  const { id, type, status, waitingFor } = deployment;
  if (session.isJson && isAwaited) return follow(session, id, { isQuiet: true });
  if (session.isJson)
    await session.output.json(
      isFollowed ? { event: 'deployment', data: deployment } : deployment,
      isFollowed,
    );
  else await session.output.line(`${type} ${session.output.style('bold', id)} of ${plain(environmentName)}`);
  if (isFollowed || isAwaited) return follow(session, id, { isQuiet: isAwaited });
  if (session.isJson) return exitCodes.good;
  await session.output.line(`It is ${status}${waitingFor ? `: ${plain(waitingFor.text)}` : ''}`);
  await session.output.line(`Follow it:  envarium logs ${id} --follow`);
  return exitCodes.good;
}
