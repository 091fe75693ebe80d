/** For tests: the resources behind a stack, which people can change and services refuse. */
import { isDeepStrictEqual } from 'node:util';

type Properties = Readonly<Record<string, unknown>>;

export interface CloudResource {
  readonly physicalId: string;
  readonly type: string;
  properties: Properties;
}

/** Properties of which another value needs another resource, as the documentation of each type says. */
const createOnly: Readonly<Record<string, readonly string[]>> = {
  'AWS::SQS::Queue': ['QueueName', 'FifoQueue'],
  'AWS::SNS::Topic': ['TopicName', 'FifoTopic'],
  'AWS::S3::Bucket': ['BucketName'],
  'AWS::IAM::Role': ['RoleName', 'Path'],
};

export function needsReplacement(type: string, property: string): boolean {
  return createOnly[type]?.includes(property) === true;
}

type Work = 'create' | 'update' | 'delete';

/** Resources in the services of AWS, regardless of who requested them. */
export class Cloud {
  readonly resources = new Map<string, CloudResource>();
  /** Reasons to refuse, by work and logical id. */
  readonly #refusals = new Map<string, { readonly reason: string; allowed: number }>();
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();
  #count = 0;
  /** Time for which a service works on a resource. */
  milliseconds = 5;

  /**
   * A service refuses work on a resource; null: it no longer does.
   * @param allowed how often it does the work before that
   */
  refuse(work: Work, logicalId: string, reason: string | null, allowed = 0): void {
    if (reason === null) this.#refusals.delete(`${work} ${logicalId}`);
    else this.#refusals.set(`${work} ${logicalId}`, { reason, allowed });
  }

  /** Services do not finish some work until `release`. @param what absent: none */
  hold(what?: { readonly work: Work; readonly logicalId: string }): void {
    const key = what === undefined ? '' : `${what.work} ${what.logicalId}`;
    if (!this.#gates.has(key)) this.#gates.set(key, Promise.withResolvers<void>());
  }

  release(): void {
    for (const gate of this.#gates.values()) gate.resolve();
    this.#gates.clear();
  }

  /** Changes a resource by hand. */
  change(physicalId: string, properties: Properties): void {
    const found = this.resources.get(physicalId);
    if (found === undefined) throw new Error(`there is no ${physicalId}`);
    found.properties = { ...found.properties, ...properties };
  }

  /** Removes a resource by hand. */
  remove(physicalId: string): void {
    this.resources.delete(physicalId);
  }

  resourceNamed(part: string): CloudResource {
    const found = [...this.resources.values()].find(({ physicalId }) => physicalId.includes(part));
    if (found === undefined) throw new Error(`there is no ${part}`);
    return found;
  }

  /** @returns why a service refuses; null once it has done the work */
  async work(work: Work, logicalId: string): Promise<string | null> {
    await new Promise((resolve) => setTimeout(resolve, this.milliseconds));
    await Promise.all([this.#gates.get('')?.promise, this.#gates.get(`${work} ${logicalId}`)?.promise]);
    const refusal = this.#refusals.get(`${work} ${logicalId}`);
    if (refusal === undefined) return null;
    refusal.allowed -= 1;
    return refusal.allowed < 0 ? refusal.reason : null;
  }

  create(stackName: string, logicalId: string, type: string, properties: Properties): CloudResource {
    const ownName = Object.entries(properties).find(([name]) =>
      /^(Queue|Topic|Bucket|Role)Name$/.test(name),
    )?.[1];
    this.#count += 1;
    const physicalId =
      typeof ownName === 'string'
        ? ownName
        : `${stackName}-${logicalId}-${String(this.#count).padStart(6, '0')}`;
    const resource = { physicalId, type, properties };
    this.resources.set(physicalId, resource);
    return resource;
  }

  /** Differences of a resource from what its stack wants; null: it is gone. */
  differences(
    physicalId: string,
    wanted: Properties,
  ): { path: string; expected: unknown; actual: unknown }[] | null {
    const actual = this.resources.get(physicalId)?.properties;
    if (actual === undefined) return null;
    return Object.keys(wanted)
      .filter((name) => !isDeepStrictEqual(wanted[name], actual[name]))
      .map((name) => ({ path: `/${name}`, expected: wanted[name], actual: actual[name] }));
  }
}
