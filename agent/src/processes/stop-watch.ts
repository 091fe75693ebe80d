/**
 * Watches for reasons to stop a run: a request (`control.json`, announced by SIGUSR1), the time limit, lost
 * contact, output that would fill the disk, or a SIGTERM. The first reason counts; it can only become more
 * urgent.
 */
import { constants } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Job } from '#protocol/messages/job.ts';
import { serverSettings } from '#settings/server.ts';
import { mostRawBytes, rawOutputFactor } from '../logs/limit.ts';
import type { Control, SpoolPaths } from '../spool/layout.ts';
import { RunFailure } from './failure.ts';
import { type LogFinding, LogWatch } from './log-watch.ts';
import { namesIn } from './proc.ts';
import type { ResourceWatch } from './run-limits.ts';
import type { StopReason } from './stop-reason.ts';

const checkMilliseconds = 250;
/** A fork bomb reaches any limit within a tenth of a second, and takes time of other runs as long as it lives. */
const glanceMilliseconds = 40;

/** Names of the settings that define a job's limits. */
export const limitSettings = {
  runSeconds: serverSettings.runTimeLimitSeconds.name,
  taskSeconds: serverSettings.taskTimeLimitSeconds.name,
  travelBytes: serverSettings.travelLimitMegabytes.name,
  offlineGraceSeconds: serverSettings.offlineGraceSeconds.name,
  stepLogBytes: serverSettings.stepLogLimitMegabytes.name,
} as const;

type WatchedSpool = Pick<SpoolPaths, 'control' | 'contact' | 'steps' | 'scratch'>;
type ResourceChecks = Pick<ResourceWatch, 'check' | 'isDue'>;

export class StopWatch implements Disposable {
  #reason: StopReason | null = null;
  readonly #listeners = new Set<() => void>();
  readonly #spool: WatchedSpool;
  readonly #limits: Job['limits'];
  readonly #timeSetting: string;
  readonly #resources: ResourceChecks | null;
  readonly #logs: LogWatch;
  readonly #startedAt = performance.now();
  readonly #startUptime = uptimeSeconds();
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #onUserSignal = () => this.check();
  readonly #onTerminate = () =>
    this.#stop({
      result: 'internal',
      how: 'gently',
      message: 'the runner received SIGTERM and interrupted its tool',
    });

  /** @param type the deployment's type, which determines the setting that its time limit comes from */
  constructor(
    spool: WatchedSpool,
    limits: Job['limits'],
    type: Job['type'] = 'deploy',
    resources: ResourceChecks | null = null,
  ) {
    this.#resources = resources;
    this.#spool = spool;
    this.#limits = limits;
    this.#logs = new LogWatch(spool.steps, (finding) => this.#stop(alteredLog(finding, ', and was stopped')));
    this.#timeSetting = type === 'task' ? limitSettings.taskSeconds : limitSettings.runSeconds;
    this.#timers = [
      setInterval(() => this.check(), checkMilliseconds),
      ...(resources === null
        ? []
        : [setInterval(() => resources.isDue() && this.check(), glanceMilliseconds)]),
    ];
    process.on('SIGUSR1', this.#onUserSignal);
    process.on('SIGTERM', this.#onTerminate);
    this.check();
  }

  get reason(): StopReason | null {
    return this.#reason;
  }

  /**
   * Calls back immediately if there already is a reason, and again whenever it becomes more urgent.
   * @returns removes the listener
   */
  onStop(listener: (reason: StopReason) => void): () => void {
    const call = () => this.#reason !== null && listener(this.#reason);
    this.#listeners.add(call);
    call();
    return () => this.#listeners.delete(call);
  }

  /** @throws RunFailure if the run must stop */
  throwIfStopped(): void {
    if (this.#reason !== null) throw stopped(this.#reason);
  }

  /** Checks all reasons to stop. */
  check(): void {
    const control = readJson<Control>(this.#spool.control);
    if (control?.abort)
      this.#stop({ result: 'aborted', how: control.abort, message: 'the deployment was aborted' });
    if (performance.now() - this.#startedAt > this.#limits.runSeconds * 1000) {
      this.#stop({
        result: 'timed-out',
        how: 'gently',
        message: `the run took longer than ${this.#limits.runSeconds} seconds and was stopped (setting ${this.#timeSetting})`,
      });
    }
    const silence = uptimeSeconds() - this.#lastContact();
    if (silence > this.#limits.offlineGraceSeconds) {
      this.#stop({
        result: 'internal',
        how: 'gently',
        message: `the agent had no contact with the server for ${Math.round(silence)} seconds, and the run was interrupted (setting ${limitSettings.offlineGraceSeconds})`,
      });
    }
    for (const finding of this.#logs.look()) this.#stop(alteredLog(finding, ', and was stopped'));
    for (const name of namesIn(this.#spool.steps)) this.#checkOutput(name);
    for (const name of namesIn(this.#spool.scratch)) this.#checkScratch(name);
    // An interrupted run may still use up what others need.
    const resources = this.#reason?.how === 'now' ? null : this.#resources?.check();
    if (resources) this.#stop(resources);
  }

  /**
   * Reads the logs once more, because a command that altered one may end before the next check.
   * @returns why the run stops, or null
   */
  checkLogs(): StopReason | null {
    const [finding] = this.#logs.look();
    if (finding === undefined) return null;
    const reason = alteredLog(finding, '');
    this.#stop(reason);
    return reason;
  }

  [Symbol.dispose](): void {
    this.#logs[Symbol.dispose]();
    for (const timer of this.#timers) clearInterval(timer);
    process.off('SIGTERM', this.#onTerminate);
    process.off('SIGUSR1', this.#onUserSignal);
  }

  #stop(reason: StopReason): void {
    if (this.#reason === null) this.#reason = reason;
    else if (this.#reason.how === 'gently' && reason.how === 'now')
      this.#reason = { ...this.#reason, how: 'now' };
    else return;
    for (const listener of [...this.#listeners]) listener();
  }

  #checkOutput(name: string): void {
    const limit = mostRawBytes(this.#limits.stepLogBytes);
    if (this.#logs.sizeOf(name) > limit)
      this.#stop({ result: 'failed', how: 'gently', message: `${stepOf(name)} ${tooMuchPrinted(limit)}` });
  }

  /** Logs that are not a step's yet, and output that is captured, which is not read above the length of a text. */
  #checkScratch(name: string): void {
    const isLog = name.endsWith('.log');
    const limit = isLog
      ? mostRawBytes(this.#limits.stepLogBytes)
      : Math.max(this.#limits.travelBytes, constants.MAX_STRING_LENGTH);
    const size = statSync(join(this.#spool.scratch, name), { throwIfNoEntry: false })?.size ?? 0;
    if (size <= limit) return;
    const what = isLog
      ? tooMuchPrinted(limit)
      : `printed more than ${inMegabytes(limit)} MB that have to be read, and was stopped: divide the configuration into several environments`;
    this.#stop({ result: 'failed', how: 'gently', message: `a command ${what}` });
  }

  #lastContact(): number {
    try {
      const seconds = Number(readFileSync(this.#spool.contact, 'utf8').trim() || Number.NaN);
      return Number.isFinite(seconds) ? Math.max(seconds, 0) : this.#startUptime;
    } catch {
      return this.#startUptime;
    }
  }
}

/** Scripts do this without meaning to, because their output is a file. */
const truncationHint =
  'in scripts, "> /dev/stdout" and "> /dev/stderr" empty it: write ">&2" or ">> /dev/stderr"';

function alteredLog({ name, text }: LogFinding, end: string): StopReason {
  const hint = text.startsWith('extended') ? '' : `: ${truncationHint}`;
  return { result: 'failed', how: 'gently', message: `${stepOf(name)} ${text}${end}${hint}` };
}

/** @param name of a log */
function stepOf(name: string): string {
  return name.replace(/\.raw$/, '').replace('_', ':');
}

function inMegabytes(bytes: number): number {
  return Math.ceil(bytes / (1024 * 1024));
}

function tooMuchPrinted(limit: number): string {
  return `printed more than ${inMegabytes(limit)} MB, ${rawOutputFactor} times the limit of a step's log (setting ${limitSettings.stepLogBytes}), and was stopped`;
}

/** @param label the command that was running; reported as the failed one unless the run was aborted */
export function stopped({ result, message }: StopReason, label?: string): RunFailure {
  const failedCommand = label === undefined || result === 'aborted' ? {} : { failedCommand: label };
  return new RunFailure(message, { result, ...failedCommand });
}

/** Seconds since boot, including the sleep of a suspended machine. */
function uptimeSeconds(): number {
  return Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
}

function readJson<Value>(path: string): Value | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Value;
  } catch {
    return null;
  }
}
