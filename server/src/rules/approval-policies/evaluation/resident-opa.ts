/** A process of opa that has one compiled policy, and answers on a socket that only the service can open. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { killGroup } from '../../../code/repositories/git/run-git.ts';
import type { LoadedCode } from './compile-policy.ts';
import { type OpaSettings, startOpa } from './opa-command.ts';
import { PolicyError } from './policy-error.ts';

const mostAnswerBytes = 1_000_000;
const mostComplaintCharacters = 4000;
const pollMilliseconds = 5;

interface OpaRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: Buffer;
  /** Of the body; default: JSON. */
  readonly type?: string;
  readonly signal: AbortSignal;
}

interface OpaServerOptions {
  /** More arguments of `opa run`. */
  readonly flags?: readonly string[];
  /** Growth of memory after which garbage is collected. */
  readonly garbagePercent?: number;
}

/** The process has ended without an answer. */
export class OpaEnded extends Error {
  override readonly name = 'OpaEnded';
}

export class ResidentOpa {
  readonly #child: ChildProcess;
  readonly #socketPath: string;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #settings: OpaSettings;
  readonly #folder: number;
  #complaints = '';
  #hasEnded = false;
  #open = 0;
  /** When it was used last, as `performance.now()` has it. */
  usedAt = performance.now();

  private constructor(
    settings: OpaSettings,
    { folder, isOld }: LoadedCode,
    { flags = [], garbagePercent }: OpaServerOptions,
  ) {
    // The path of a socket has at most 107 bytes, so both sides name it from an open folder.
    this.#folder = openSync(join(folder, '..'), 'r');
    this.#socketPath = `/proc/self/fd/${this.#folder}/s`;
    this.#settings = settings;
    const version = isOld ? ['--v0-compatible'] : [];
    const server = [
      'run',
      '--server',
      '--addr',
      'unix://../s',
      '--skip-version-check',
      '--log-level',
      'error',
    ];
    try {
      this.#child = startOpa(settings, [...server, ...flags, ...version, '.'], folder, garbagePercent);
    } catch (error) {
      closeSync(this.#folder);
      throw error;
    }
    this.#child.stdout?.resume();
    this.#child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      this.#complaints = (this.#complaints + part).slice(-mostComplaintCharacters);
    });
    this.#child.once('error', () => this.#close()).once('exit', () => this.#close());
  }

  /** @throws PolicyError where it does not start in time */
  static async start(
    settings: OpaSettings,
    code: LoadedCode,
    options: OpaServerOptions = {},
  ): Promise<ResidentOpa> {
    const opa = new ResidentOpa(settings, code, options);
    const until = performance.now() + settings.policyTimeLimitSeconds * 1000;
    while (!opa.hasEnded && performance.now() < until) {
      if (await opa.#isReady()) return opa;
      await delay(pollMilliseconds);
    }
    await opa.end();
    throw new PolicyError(
      `opa did not start: ${opa.#complaints.trim().slice(-1000) || 'it printed nothing'}`,
    );
  }

  #close(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#agent.destroy();
    closeSync(this.#folder);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether a caller waits for a response. */
  get isBusy(): boolean {
    return this.#open > 0;
  }

  async #isReady(): Promise<boolean> {
    try {
      await this.ask({ method: 'GET', path: '/health', signal: AbortSignal.timeout(1000) });
      return true;
    } catch {
      return false;
    }
  }

  /** @returns the text of the response. @throws PolicyError, OpaEnded, or what the connection says */
  async ask({ method, path, body, type = 'application/json', signal }: OpaRequest): Promise<string> {
    // The number of its folder may belong to another process by now.
    if (this.#hasEnded) throw new OpaEnded(this.#complaints.slice(-500));
    return new Promise((resolve, reject) => {
      const headers = body ? { 'content-type': type, 'content-length': body.length } : {};
      const call = request({
        socketPath: this.#socketPath,
        agent: this.#agent,
        method,
        path,
        headers,
        signal,
      });
      call.once('error', reject).once('response', (response) => {
        const parts: Buffer[] = [];
        let bytes = 0;
        response.on('data', (part: Buffer) => {
          bytes += part.length;
          if (bytes <= mostAnswerBytes) return void parts.push(part);
          reject(new PolicyError(`The messages of the policy have more than ${mostAnswerBytes} bytes`));
          call.destroy();
        });
        response.once('error', reject).once('end', () => {
          const text = Buffer.concat(parts).toString('utf8');
          if (response.statusCode === 200 || response.statusCode === 204) resolve(text);
          else reject(new PolicyError(`The policy failed: ${messageIn(text)}`));
        });
      });
      call.end(body);
    });
  }

  /**
   * Results of the four rules of the policy. The older of the two interfaces of opa accepts the bare input, and
   * reads it in three quarters of the time (https://www.openpolicyagent.org/docs/rest-api, "Webhook").
   * @param input as JSON
   * @throws PolicyError where it fails or takes too long, OpaEnded where the process is gone
   */
  async evaluate(input: Buffer): Promise<unknown> {
    const seconds = this.#settings.policyTimeLimitSeconds;
    const signal = AbortSignal.timeout(seconds * 1000);
    this.#open++;
    try {
      return JSON.parse(
        await this.ask({ method: 'POST', path: '/v0/data/envarium_verdict/result', body: input, signal }),
      ) as unknown;
    } catch (error) {
      if (error instanceof PolicyError) throw error;
      if (!signal.aborted) throw new OpaEnded(this.#complaints.slice(-500), { cause: error });
      // A process that hangs may not learn that its caller no longer waits.
      await this.end();
      throw new PolicyError(
        `The evaluation takes longer than ${seconds} s (setting ENVARIUM_POLICY_TIME_LIMIT_SECONDS)`,
      );
    } finally {
      this.#open--;
      this.usedAt = performance.now();
    }
  }

  /** Ends the process at once. */
  kill(): void {
    // Its id may belong to another process by now.
    if (!this.#hasEnded) killGroup(this.#child);
    this.#agent.destroy();
  }

  /** The same, and waits for its end. */
  async end(): Promise<void> {
    const isGone = this.#child.exitCode !== null || this.#child.signalCode !== null;
    const gone = isGone || this.#child.pid === undefined ? undefined : once(this.#child, 'exit');
    this.kill();
    await gone;
  }
}

/** Reason for a failure in opa's response. */
function messageIn(text: string): string {
  try {
    const { message, errors } = JSON.parse(text) as {
      readonly message?: string;
      readonly errors?: readonly { readonly message: string }[];
    };
    return errors?.map((error) => error.message).join('; ') || message || text.slice(0, 500);
  } catch {
    return text.slice(0, 500);
  }
}
