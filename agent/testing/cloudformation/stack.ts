/** For tests: a stack as AWS keeps it. */
import type { DeclaredParameter, Template } from './template.ts';

export interface StackEvent {
  readonly id: string;
  readonly time: Date;
  readonly logicalId: string;
  readonly physicalId: string;
  readonly type: string;
  readonly status: string;
  readonly reason: string | undefined;
  readonly token: string | undefined;
}

export interface StackResource {
  readonly logicalId: string;
  readonly type: string;
  physicalId: string;
  status: string;
  reason: string | undefined;
  /** As the template wants them, evaluated. */
  wanted: Readonly<Record<string, unknown>>;
  deletionPolicy: string;
  nested: Stack | null;
}

/** Input of a deployment to a stack. */
export interface StackInput {
  readonly template: Template;
  readonly parameters: ReadonlyMap<string, string>;
  readonly tags: Readonly<Record<string, string>>;
  /** Changes made outside of the stack are undone. */
  readonly revertsDrift?: boolean;
}

export const stackType = 'AWS::CloudFormation::Stack';
export const masked = '****';

const account = '123456789012';
let count = 0;

/** Digits that make an id unique. */
export function freshId(): string {
  count += 1;
  return `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
}

export function arnOf(kind: 'stack' | 'changeSet', name: string): string {
  return `arn:aws:cloudformation:eu-west-1:${account}:${kind}/${name}/${freshId()}`;
}

export class Stack {
  readonly id: string;
  readonly name: string;
  readonly parentId: string | undefined;
  readonly created = new Date();
  readonly events: StackEvent[] = [];
  readonly resources = new Map<string, StackResource>();
  status = 'REVIEW_IN_PROGRESS';
  reason: string | undefined;
  input: StackInput | null = null;
  outputs: Readonly<Record<string, string>> = {};
  isProtected = false;
  /** Of the request that is being carried out. */
  token: string | undefined;
  /** Settled once the update is cancelled. */
  cancelling = Promise.withResolvers<void>();
  isCancelled = false;

  constructor(name: string, parentId?: string) {
    this.name = name;
    this.parentId = parentId;
    this.id = arnOf('stack', name);
  }

  cancel(): void {
    this.isCancelled = true;
    this.cancelling.resolve();
  }

  get isDeleted(): boolean {
    return this.status === 'DELETE_COMPLETE';
  }

  get isAtWork(): boolean {
    return this.status.endsWith('_IN_PROGRESS') && this.status !== 'REVIEW_IN_PROGRESS';
  }

  /** Changes the status of the stack itself, which is an event, too. */
  become(status: string, reason?: string): void {
    this.status = status;
    this.reason = reason;
    this.#happened({ logicalId: this.name, physicalId: this.id, type: stackType, status, reason });
  }

  /** Changes the status of a resource. */
  mark(resource: StackResource, status: string, reason?: string): void {
    resource.status = status;
    resource.reason = reason;
    const { logicalId, physicalId, type } = resource;
    this.#happened({ logicalId, physicalId, type, status, reason });
  }

  #happened(event: Omit<StackEvent, 'id' | 'time' | 'token'>): void {
    this.events.unshift({ ...event, id: freshId(), time: new Date(), token: this.token });
  }
}

/** Values of parameters, as AWS shows them. */
export function shownValue(
  { name, isHidden }: DeclaredParameter,
  values: ReadonlyMap<string, string>,
): string {
  return isHidden ? masked : (values.get(name) ?? '');
}
