/**
 * A process of opa that reads the input of one check once. Policies of that check take turns in it: each is loaded as its
 * author wrote it, in place of the one before, so that it is alone in the process while it is evaluated.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpaSettings } from './opa-command.ts';
import { ResidentOpa } from './resident-opa.ts';

/** Time of one turn: policies that need more get the whole limit in a process of their own. */
const turnMilliseconds = 1000;

/**
 * Values are stored as evaluations need them: otherwise, each would convert the whole input. The process ends with the
 * check, so that most of its garbage is never collected.
 */
const serverOptions = { flags: ['--optimize-store-for-read-speed'], garbagePercent: 1000 };

/** Reads the four rules about the stored input, to which each turn adds the configuration of its policy. */
const verdictModule = (document: string) => `package envarium_verdict

import rego.v1

rules.deny := data.envarium.deny

rules.pending := data.envarium.pending

rules.allow := data.envarium.allow

rules.warn := data.envarium.warn

result := found if found := rules with input as object.union(data.${document}, input)
`;

/** A policy that may take turns: one file, and what its configuration adds to the input. */
export interface PolicyTurn {
  readonly text: string;
  /** As JSON. */
  readonly configuration: string;
}

export class SharedOpa {
  readonly #opa: ResidentOpa;
  readonly #folder: string;
  readonly #document: string;
  /** For policies in the language of opa before 1.0. */
  readonly isOld: boolean;

  private constructor(opa: ResidentOpa, folder: string, document: string, isOld: boolean) {
    this.isOld = isOld;
    this.#opa = opa;
    this.#folder = folder;
    this.#document = document;
  }

  /**
   * @param folder which does not exist
   * @param isOld for policies in the language of opa before 1.0
   * @throws PolicyError where it does not start in time
   */
  static async start(settings: OpaSettings, folder: string, isOld: boolean): Promise<SharedOpa> {
    // Policies cannot have a package with this name by chance or on purpose.
    const document = `input_${randomBytes(16).toString('hex')}`;
    const code = join(folder, 'code');
    mkdirSync(code, { recursive: true, mode: 0o700 });
    writeFileSync(join(code, 'envarium_verdict.rego'), verdictModule(document));
    try {
      const opa = await ResidentOpa.start(settings, { folder: code, isOld }, serverOptions);
      return new SharedOpa(opa, folder, document, isOld);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  get hasEnded(): boolean {
    return this.#opa.hasEnded;
  }

  /** @param input as JSON, an object. @throws PolicyError, OpaEnded, or the reason of an abort */
  async read(input: Buffer, settings: OpaSettings): Promise<void> {
    const signal = AbortSignal.timeout(settings.policyTimeLimitSeconds * 1000);
    await this.#opa.ask({ method: 'PUT', path: `/v1/data/${this.#document}`, body: input, signal });
  }

  /** @returns results of the four rules of a policy. @throws anything, if it did not simply succeed */
  async take({ text, configuration }: PolicyTurn): Promise<unknown> {
    const signal = AbortSignal.timeout(turnMilliseconds);
    const type = 'text/plain';
    await this.#opa.ask({
      method: 'PUT',
      path: '/v1/policies/policy',
      body: Buffer.from(text),
      type,
      signal,
    });
    const body = Buffer.from(`{"policyConfiguration":${configuration}}`);
    const path = '/v0/data/envarium_verdict/result';
    return JSON.parse(await this.#opa.ask({ method: 'POST', path, body, signal })) as unknown;
  }

  /** Ends the process at once. */
  kill(): void {
    this.#opa.kill();
  }

  /** The same, waits for its end, and removes its folder. */
  async end(): Promise<void> {
    await this.#opa.end();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
