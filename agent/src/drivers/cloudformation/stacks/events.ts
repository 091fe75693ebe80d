/** Events of the resources of a stack, as lines of the log while they arrive. */
import { DescribeStackEventsCommand, type Stack, type StackEvent } from '@aws-sdk/client-cloudformation';
import { errorsOf, reasonOf } from '../../interface/diagnostics.ts';
import type { Api } from './api/api.ts';
import { eventLine, type FailedResource, failureText, ownFailures } from './api/reports.ts';
import { tell } from './api/tell.ts';
import { findStack, isAtWork, Patience, statusOf } from './stack.ts';

const nestedType = 'AWS::CloudFormation::Stack';

/** One stack whose events are followed. */
interface FollowedStack {
  readonly stackId: string;
  readonly within: readonly string[];
  /** Events of this time and later. */
  readonly from: number;
  readonly seen: Set<string>;
}

/** Events of one piece of work, from its beginning on. */
export class EventLog {
  readonly #api: Pick<Api, 'client'>;
  readonly #stackId: string;
  readonly #followed: FollowedStack[];
  readonly #failures: FailedResource[] = [];

  private constructor(api: Pick<Api, 'client'>, stackId: string, root: FollowedStack) {
    this.#api = api;
    this.#stackId = stackId;
    this.#followed = [root];
  }

  /** Events after the current ones. */
  static async from(api: Pick<Api, 'client'>, stackId: string): Promise<EventLog> {
    const { StackEvents = [] } = await api.client
      .send(new DescribeStackEventsCommand({ StackName: stackId }))
      .catch((error: Error) => {
        if (/does not exist/.test(error.message)) return { StackEvents: [] as StackEvent[] };
        throw error;
      });
    const seen = new Set(StackEvents.map(({ EventId = '' }) => EventId));
    const newest = Math.max(0, ...StackEvents.map(timeOf));
    return new EventLog(api, stackId, { stackId, within: [], from: newest, seen });
  }

  /** Events since the work with a token began; without any, those still to come. */
  static async of(api: Pick<Api, 'client'>, stackId: string, token: string): Promise<EventLog> {
    const all = await pagesSince(api, stackId, 0);
    const begun = all.filter(({ ClientRequestToken }) => ClientRequestToken === token);
    const first = Math.min(...begun.map(timeOf));
    if (begun.length === 0) return EventLog.from(api, stackId);
    const older = all.filter((event) => timeOf(event) < first).map(({ EventId = '' }) => EventId);
    return new EventLog(api, stackId, { stackId, within: [], from: first, seen: new Set(older) });
  }

  /** Tells of events until AWS is done. @returns the stack then; null: it is gone */
  async follow(): Promise<Stack | null> {
    const patience = new Patience();
    for (;;) {
      // The status first: what led to it is then among the events.
      const stack = await findStack(this.#api, this.#stackId);
      if ((await this.#read()) > 0) patience.reset();
      if (stack === null || !isAtWork(statusOf(stack))) return stack;
      await patience.wait();
    }
  }

  /** Why the work failed: the first resource with a reason of its own, and how many more there are. */
  firstFailure(): string | null {
    const own = ownFailures(this.#failures);
    const failures = own.length > 0 ? own : this.#failures.slice(0, 1);
    return reasonOf(errorsOf(failures.map(failureText)));
  }

  async #read(): Promise<number> {
    let count = 0;
    // Nested stacks are added during the loop.
    for (let index = 0; index < this.#followed.length; index += 1) {
      const followed = this.#followed[index];
      if (followed !== undefined) count += await this.#readOne(followed);
    }
    return count;
  }

  async #readOne(followed: FollowedStack): Promise<number> {
    const events = await pagesSince(this.#api, followed.stackId, followed.from, followed.seen);
    const fresh = events.filter(({ EventId = '' }) => !followed.seen.has(EventId)).reverse();
    for (const event of fresh) {
      followed.seen.add(event.EventId ?? '');
      this.#take(event, followed);
    }
    return fresh.length;
  }

  #take(event: StackEvent, { within, stackId }: FollowedStack): void {
    const { LogicalResourceId = '', PhysicalResourceId, ResourceType = '', ResourceStatus = '' } = event;
    const reason = event.ResourceStatusReason;
    const isStack = PhysicalResourceId === stackId;
    const path = isStack ? within.join('.') || LogicalResourceId : [...within, LogicalResourceId].join('.');
    const time = (event.Timestamp ?? new Date(0)).toISOString().slice(11, 19);
    const line = {
      time,
      status: ResourceStatus,
      type: ResourceType,
      path,
      physicalId: PhysicalResourceId,
      reason,
    };
    // Lines of the stack itself have another form: only resources have rows.
    tell(isStack ? stackLine(line) : eventLine(line));
    if (ResourceStatus.endsWith('_FAILED') && !isStack)
      this.#failures.push({ path, type: ResourceType, reason: reason ?? 'AWS gives no reason' });
    if (isStack || ResourceType !== nestedType || !PhysicalResourceId?.startsWith('arn:')) return;
    if (this.#followed.some((each) => each.stackId === PhysicalResourceId)) return;
    this.#followed.push({
      stackId: PhysicalResourceId,
      within: [...within, LogicalResourceId],
      from: timeOf(event),
      seen: new Set(),
    });
  }
}

function stackLine({ time, status, path, reason }: Parameters<typeof eventLine>[0]): string {
  return `${time} stack ${path} is ${status}${reason ? `: ${reason.replaceAll(/\s+/g, ' ')}` : ''}`;
}

function timeOf({ Timestamp }: StackEvent): number {
  return Timestamp?.getTime() ?? 0;
}

/** Events from a time on, newest first. @param known pages are read up to the first event that is among these */
async function pagesSince(
  { client }: Pick<Api, 'client'>,
  StackName: string,
  from: number,
  known: ReadonlySet<string> = new Set(),
): Promise<StackEvent[]> {
  const found: StackEvent[] = [];
  let NextToken: string | undefined;
  for (;;) {
    const page = await client
      .send(new DescribeStackEventsCommand({ StackName, ...(NextToken === undefined ? {} : { NextToken }) }))
      .catch((error: Error) => {
        // A stack that is only planned has none.
        if (/does not exist/.test(error.message))
          return { StackEvents: [] as StackEvent[], NextToken: undefined };
        throw error;
      });
    const events = page.StackEvents ?? [];
    found.push(...events.filter((event) => timeOf(event) >= from));
    const isOld = events.some((event) => timeOf(event) < from || known.has(event.EventId ?? ''));
    NextToken = page.NextToken;
    if (isOld || NextToken === undefined) return found;
  }
}
