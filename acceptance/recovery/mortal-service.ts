/** A service of several tests, which kill its processes. */
import { randomBytes } from 'node:crypto';
import { after, before } from 'node:test';
import type { Client } from '#contract/client/client.ts';
import { type Home, homeOf } from '../runs.ts';
import { type RunningService, removeScratch, scratchFolder, startService } from '../service.ts';
import { agentPid, sendSignal } from './processes.ts';

export type Victim = 'tool' | 'runner' | 'agent' | 'server';

/** Whether a deployment ends with what is killed; an agent and a server only interrupt it. */
export function isInDeployment(victim: Victim): victim is 'tool' | 'runner' {
  return victim === 'tool' || victim === 'runner';
}

export class MortalService {
  readonly #settings: Readonly<Record<string, string>>;
  #folder: string | undefined;
  #service: RunningService | undefined;
  #home: Home | undefined;

  /**
   * Call it first in a `describe`: it starts before its tests and their other preparations, and ends after them.
   * @param settings of the service
   */
  constructor(settings: Readonly<Record<string, string>> = {}) {
    this.#settings = {
      ENVARIUM_LOG_LEVEL: 'warn',
      ENVARIUM_ABORT_SECONDS: '5',
      ENVARIUM_BOOTSTRAP_API_SECRET: randomBytes(32).toString('base64url'),
      ...settings,
    };
    before(async () => {
      this.#folder = await scratchFolder();
      await this.#start();
      this.#home = await homeOf(this.client);
    });
    after(async () => {
      await this.#service?.[Symbol.asyncDispose]();
      if (this.#folder !== undefined) await removeScratch(this.#folder);
    });
  }

  /** The scratch folder, with the service's data. */
  get folder(): string {
    return started(this.#folder);
  }

  get running(): RunningService {
    return started(this.#service);
  }

  get client(): Client {
    return this.running.client;
  }

  get home(): Home {
    return started(this.#home);
  }

  /** Kills the agent, which its server replaces, or the server, which is started again. */
  async kill(victim: 'agent' | 'server'): Promise<void> {
    if (victim === 'agent') {
      sendSignal(await agentPid(this.running), 'SIGKILL');
      return;
    }
    await this.running.kill();
    await this.#start();
  }

  /** Ends the server as an administrator does, and starts it again. */
  async restart(): Promise<void> {
    await this.running.stop();
    await this.#start();
  }

  async #start(): Promise<void> {
    this.#service = await startService({ folder: this.folder, settings: this.#settings });
  }
}

function started<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('the service has not been started');
  return value;
}
