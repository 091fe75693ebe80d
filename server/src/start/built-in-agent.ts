/** The built-in agent: the usual agent program, as a child process that is restarted when it exits. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { environmentOf } from '#settings/declaration.ts';
import { proxyEnvironment } from '#settings/network.ts';
import { identityEnvironment } from '#settings/secret-stores.ts';
import { sharedSettings } from '#settings/server-and-agent.ts';
import type { Context } from '../framework/context.ts';
import type { DataFolder } from '../ground/config/data-folder.ts';
import { builtInAgentKey, renewBuiltInSecret } from './bootstrap.ts';

const program = fileURLToPath(new URL('../../../agent/src/main.ts', import.meta.url));
/** Little time is lost in collecting its short-lived objects more often. */
const smallHeap = ['--max-semi-space-size=4'];
const pauseAfterEnd = 1_000;
/** The agent signs off and ends; its runners stay. */
const goodbyeMilliseconds = 5_000;
/** An agent that has run for this long has accepted its settings. */
const startMilliseconds = 10_000;
const problemName = 'built-in agent';

/** Settings of the service that the agent needs, and the environment variables with which it finds tools. */
function environment(
  context: Context,
  folder: DataFolder,
  url: string,
  secretFile: string,
): Record<string, string> {
  const { settings } = context;
  return {
    PATH: process.env.PATH ?? '',
    ...(process.env.NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {}),
    ENVARIUM_URL: url,
    ENVARIUM_AGENT_KEY: builtInAgentKey,
    ENVARIUM_AGENT_SECRET_FILE: secretFile,
    ENVARIUM_AGENT_ENDS_WITH_STDIN: 'true',
    ENVARIUM_SPOOL_DIR: join(folder.path, 'spool'),
    ENVARIUM_WORK_DIR: join(folder.place, 'work'),
    ENVARIUM_TOOL_CACHE_DIR: join(folder.place, 'tools'),
    ...environmentOf(sharedSettings, settings),
    ...proxyEnvironment(process.env),
    ...identityEnvironment(process.env, settings.secretReferences, settings.awsOwnIdentity),
  };
}

function withoutStack(reason: string): string {
  return reason.replace(/\n {4}at [^]*$/, '').trim();
}

export class BuiltInAgent implements AsyncDisposable {
  readonly #context: Context;
  readonly #environment: Record<string, string>;
  readonly #closing = new AbortController();
  #child: ChildProcess | undefined;
  #kept: Promise<void> = Promise.resolve();

  private constructor(context: Context, childEnvironment: Record<string, string>) {
    this.#context = context;
    this.#environment = childEnvironment;
  }

  /** @param url where the agent reaches the service */
  static async start(context: Context, folder: DataFolder, url: string): Promise<BuiltInAgent> {
    const secretFile = join(folder.path, 'agent.secret');
    const before = await readFile(secretFile, 'utf8').catch(() => null);
    const secret = await renewBuiltInSecret(context, before?.trim() || null);
    await writeFile(`${secretFile}.new`, `${secret}\n`, { mode: 0o600, flush: true });
    await rename(`${secretFile}.new`, secretFile);
    const agent = new BuiltInAgent(context, environment(context, folder, url, secretFile));
    agent.#kept = agent.#keepRunning();
    return agent;
  }

  /** Process id of the agent; undefined while it is being started again. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async #keepRunning(): Promise<void> {
    const { log, problems } = this.#context;
    while (!this.#closing.signal.aborted) {
      // Its own session: Ctrl-C on the terminal reaches only the service, which then stops the agent.
      const child = spawn(process.execPath, [...smallHeap, program], {
        env: this.#environment,
        stdio: ['pipe', 'pipe', 'inherit'],
        detached: true,
      });
      this.#child = child;
      // The agent writes nothing there but the reason why it could not start.
      let reason = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => (reason += text));
      const started = setTimeout(() => problems.delete(problemName), startMilliseconds);
      const end = await new Promise<string>((resolve) => {
        child.once('close', (code, signal) => resolve(signal ?? `status ${code}`));
        child.once('error', (error) => resolve(error.message));
      });
      this.#child = undefined;
      clearTimeout(started);
      if (this.#closing.signal.aborted) return;
      if (reason === '') log.warn({ end }, 'the built-in agent exited; restarting it');
      else {
        const text = withoutStack(reason);
        // Callers without credentials read this: no paths of the machine.
        problems.set(problemName, "The built-in agent does not start: see the service's log");
        log.error({ end, reason: text }, 'the built-in agent failed to start; trying again');
      }
      await delay(pauseAfterEnd, undefined, { signal: this.#closing.signal }).catch(() => undefined);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    const child = this.#child;
    child?.stdin?.end();
    const timer = setTimeout(() => child?.kill('SIGKILL'), goodbyeMilliseconds);
    await this.#kept;
    clearTimeout(timer);
  }
}
