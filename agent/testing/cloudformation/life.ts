/** For tests: how AWS creates, updates and deletes stacks, resource by resource, and rolls back. */
import { isDeepStrictEqual } from 'node:util';
import { type Cloud, needsReplacement } from './cloud.ts';
import { Stack, type StackInput, type StackResource, stackType } from './stack.ts';
import { type DeclaredResource, evaluate, inOrder, parseTemplate, type Scope, textOf } from './template.ts';

/** Places of templates of nested stacks. @throws AwsError */
export type Fetch = (url: string) => string;

/** Why a piece of work ended early; null: it did not. */
type Failure = { readonly ids: string[] } | null;

type Properties = Readonly<Record<string, unknown>>;

/** Steps that an update leaves for its end, and for a rollback. */
interface Undo {
  readonly created: StackResource[];
  readonly changed: {
    readonly resource: StackResource;
    readonly wanted: Properties;
    readonly physicalId: string;
  }[];
  /** Physical ids of what was replaced. */
  readonly replaced: { readonly resource: StackResource; readonly physicalId: string }[];
}

export class Life {
  readonly #cloud: Cloud;
  readonly #fetch: Fetch;

  constructor(cloud: Cloud, fetch: Fetch) {
    this.#cloud = cloud;
    this.#fetch = fetch;
  }

  #scope(stack: Stack, input: StackInput): Scope {
    const ref = (name: string) => {
      if (input.parameters.has(name)) return input.parameters.get(name);
      if (name === 'AWS::StackName') return stack.name;
      return name === 'AWS::Region' ? 'eu-west-1' : stack.resources.get(name)?.physicalId;
    };
    return {
      ref,
      attribute: (name, attribute) => {
        const nested = stack.resources.get(name)?.nested;
        if (nested && attribute.startsWith('Outputs.'))
          return nested.outputs[attribute.slice('Outputs.'.length)];
        return attribute === 'QueueName' ? ref(name) : `${String(ref(name))}.${attribute}`;
      },
    };
  }

  /** Fields of a nested stack in a template. */
  #nestedInput(properties: Properties, input: StackInput): StackInput {
    const template = parseTemplate(this.#fetch(String(properties['TemplateURL'])));
    const values = (properties['Parameters'] ?? {}) as Record<string, unknown>;
    const parameters = new Map(
      template.parameters.map(({ name, default: usual }) => [name, textOf(values[name]) ?? usual ?? '']),
    );
    return { ...input, template, parameters };
  }

  /** Creates what a template declares. */
  async create(stack: Stack, input: StackInput, options: { readonly rollsBack: boolean }): Promise<void> {
    stack.input = input;
    stack.become('CREATE_IN_PROGRESS', 'User Initiated');
    const failure = await this.#createAll(stack, input);
    if (failure === null) {
      stack.outputs = this.#outputs(stack, input);
      return stack.become('CREATE_COMPLETE');
    }
    const reason = `The following resource(s) failed to create: [${failure.ids.join(', ')}].`;
    if (!options.rollsBack) return stack.become('CREATE_FAILED', reason);
    stack.become('ROLLBACK_IN_PROGRESS', `${reason} Rollback requested by user.`);
    const left = await this.#deleteAll(stack, [...stack.resources.values()].reverse());
    if (left !== null)
      return stack.become(
        'ROLLBACK_FAILED',
        `The following resource(s) failed to delete: [${left.ids.join(', ')}].`,
      );
    stack.become('ROLLBACK_COMPLETE');
  }

  #outputs(stack: Stack, { template, parameters, tags }: StackInput): Record<string, string> {
    const scope = this.#scope(stack, { template, parameters, tags });
    return Object.fromEntries(
      Object.entries(template.outputs).map(([name, value]) => [name, String(evaluate(value, scope))]),
    );
  }

  async #createAll(stack: Stack, input: StackInput): Promise<Failure> {
    for (const declared of inOrder(input.template.resources)) {
      const resource = await this.#createOne(stack, declared, input);
      if (resource.status !== 'CREATE_COMPLETE') return { ids: [declared.logicalId] };
    }
    return null;
  }

  async #createOne(stack: Stack, declared: DeclaredResource, input: StackInput): Promise<StackResource> {
    const { logicalId, type, deletionPolicy } = declared;
    const resource: StackResource = {
      logicalId,
      type,
      physicalId: '',
      status: '',
      reason: undefined,
      wanted: {},
      deletionPolicy,
      nested: null,
    };
    stack.resources.set(logicalId, resource);
    stack.mark(resource, 'CREATE_IN_PROGRESS');
    const wanted = evaluate(declared.properties, this.#scope(stack, input)) as Properties;
    if (type === stackType) return this.#createNested(stack, resource, wanted, input);
    const refusal = await this.#work(stack, 'create', logicalId);
    if (refusal !== null || stack.isCancelled) {
      stack.mark(resource, 'CREATE_FAILED', refusal ?? 'Resource creation cancelled');
      return resource;
    }
    resource.wanted = wanted;
    resource.physicalId = this.#cloud.create(stack.name, logicalId, type, wanted).physicalId;
    stack.mark(resource, 'CREATE_IN_PROGRESS', 'Resource creation Initiated');
    stack.mark(resource, 'CREATE_COMPLETE');
    return resource;
  }

  /** A service works until it is done, or until the update is cancelled. */
  #work(stack: Stack, work: 'create' | 'update', logicalId: string): Promise<string | null> {
    return Promise.race([this.#cloud.work(work, logicalId), stack.cancelling.promise.then(() => null)]);
  }

  async #createNested(
    stack: Stack,
    resource: StackResource,
    wanted: Properties,
    input: StackInput,
  ): Promise<StackResource> {
    const nested = new Stack(`${stack.name}-${resource.logicalId}`, stack.id);
    nested.token = stack.token;
    resource.nested = nested;
    resource.physicalId = nested.id;
    resource.wanted = wanted;
    stack.mark(resource, 'CREATE_IN_PROGRESS', 'Resource creation Initiated');
    await this.create(nested, this.#nestedInput(wanted, input), { rollsBack: true });
    const isGood = nested.status === 'CREATE_COMPLETE';
    stack.mark(
      resource,
      isGood ? 'CREATE_COMPLETE' : 'CREATE_FAILED',
      isGood
        ? undefined
        : `Embedded stack ${nested.id} was not successfully created: ${nested.reason ?? nested.status}`,
    );
    return resource;
  }

  /** Changes what a stack has into what a template declares. */
  async update(stack: Stack, input: StackInput): Promise<void> {
    const { input: before, outputs } = stack;
    stack.isCancelled = false;
    stack.cancelling = Promise.withResolvers<void>();
    stack.become('UPDATE_IN_PROGRESS', 'User Initiated');
    const undo: Undo = { created: [], changed: [], replaced: [] };
    const failure = await this.#updateAll(stack, input, undo);
    if (failure !== null) return this.#rollBack(stack, undo, failure, { before, outputs });
    stack.input = input;
    stack.outputs = this.#outputs(stack, input);
    stack.become('UPDATE_COMPLETE_CLEANUP_IN_PROGRESS');
    const names = new Set(input.template.resources.map(({ logicalId }) => logicalId));
    await this.#deleteAll(
      stack,
      [...stack.resources.values()].filter(({ logicalId }) => !names.has(logicalId)).reverse(),
    );
    for (const { resource, physicalId } of undo.replaced) await this.#removeOld(stack, resource, physicalId);
    stack.become('UPDATE_COMPLETE');
  }

  async #updateAll(stack: Stack, input: StackInput, undo: Undo): Promise<Failure> {
    for (const declared of inOrder(input.template.resources)) {
      const resource = stack.resources.get(declared.logicalId);
      if (resource === undefined || this.#isGone(resource, input)) {
        const created = await this.#createOne(stack, declared, input);
        undo.created.push(created);
        if (created.status !== 'CREATE_COMPLETE') return { ids: [declared.logicalId] };
        continue;
      }
      resource.deletionPolicy = declared.deletionPolicy;
      if (!(await this.#updateOne(stack, resource, declared, input, undo)))
        return { ids: [declared.logicalId] };
    }
    return stack.isCancelled ? { ids: [] } : null;
  }

  #isGone({ nested, physicalId }: StackResource, { revertsDrift }: StackInput): boolean {
    return revertsDrift === true && nested === null && !this.#cloud.resources.has(physicalId);
  }

  /** Current resource; where drift is not undone, AWS assumes what the stack has made of it. */
  #now(resource: StackResource, { revertsDrift }: StackInput): Properties {
    if (revertsDrift !== true || resource.nested !== null) return resource.wanted;
    return { ...resource.wanted, ...this.#cloud.resources.get(resource.physicalId)?.properties };
  }

  async #updateOne(
    stack: Stack,
    resource: StackResource,
    declared: DeclaredResource,
    input: StackInput,
    undo: Undo,
  ): Promise<boolean> {
    const wanted = evaluate(declared.properties, this.#scope(stack, input)) as Properties;
    const now = this.#now(resource, input);
    const names = Object.keys({ ...now, ...wanted }).filter(
      (name) => !isDeepStrictEqual(now[name], wanted[name]),
    );
    if (resource.nested !== null) {
      stack.mark(resource, 'UPDATE_IN_PROGRESS');
      resource.nested.token = stack.token;
      await this.update(resource.nested, this.#nestedInput(wanted, input));
      resource.wanted = wanted;
      const isGood = resource.nested.status === 'UPDATE_COMPLETE';
      stack.mark(
        resource,
        isGood ? 'UPDATE_COMPLETE' : 'UPDATE_FAILED',
        isGood ? undefined : `Embedded stack ${resource.nested.id} was not successfully updated.`,
      );
      return isGood;
    }
    if (names.length === 0) return true;
    const isNew = names.some((name) => needsReplacement(resource.type, name));
    stack.mark(
      resource,
      'UPDATE_IN_PROGRESS',
      isNew
        ? 'Requested update requires the creation of a new physical resource; hence creating one.'
        : undefined,
    );
    const refusal = await this.#work(stack, 'update', resource.logicalId);
    if (refusal !== null || stack.isCancelled) {
      stack.mark(resource, 'UPDATE_FAILED', refusal ?? 'Resource update cancelled');
      return false;
    }
    undo.changed.push({ resource, wanted: resource.wanted, physicalId: resource.physicalId });
    if (isNew) {
      undo.replaced.push({ resource, physicalId: resource.physicalId });
      resource.physicalId = this.#cloud.create(
        stack.name,
        resource.logicalId,
        resource.type,
        wanted,
      ).physicalId;
    } else this.#cloud.change(resource.physicalId, wanted);
    resource.wanted = wanted;
    stack.mark(resource, 'UPDATE_COMPLETE');
    return true;
  }

  async #rollBack(
    stack: Stack,
    undo: Undo,
    { ids }: NonNullable<Failure>,
    { before, outputs }: Pick<Stack, 'outputs'> & { readonly before: StackInput | null },
  ): Promise<void> {
    const reason =
      ids.length === 0
        ? 'User Initiated'
        : `The following resource(s) failed to update: [${ids.join(', ')}].`;
    stack.become('UPDATE_ROLLBACK_IN_PROGRESS', reason);
    for (const { resource, wanted, physicalId } of undo.changed) {
      stack.mark(resource, 'UPDATE_IN_PROGRESS');
      const refusal = await this.#cloud.work('update', resource.logicalId);
      if (refusal !== null) {
        stack.mark(resource, 'UPDATE_FAILED', refusal);
        return stack.become(
          'UPDATE_ROLLBACK_FAILED',
          `The following resource(s) failed to update: [${resource.logicalId}].`,
        );
      }
      if (resource.physicalId === physicalId) this.#cloud.change(physicalId, wanted);
      Object.assign(resource, { wanted, physicalId });
      stack.mark(resource, 'UPDATE_COMPLETE');
    }
    stack.become('UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS');
    await this.#deleteAll(stack, undo.created);
    stack.input = before;
    stack.outputs = outputs;
    stack.become('UPDATE_ROLLBACK_COMPLETE');
  }

  /** Continues a rollback that has failed. */
  async continueRollback(stack: Stack, skipped: readonly string[]): Promise<void> {
    stack.become('UPDATE_ROLLBACK_IN_PROGRESS', 'User Initiated');
    for (const resource of stack.resources.values()) {
      if (resource.status !== 'UPDATE_FAILED') continue;
      const refusal = skipped.includes(resource.logicalId)
        ? null
        : await this.#cloud.work('update', resource.logicalId);
      if (refusal !== null) {
        stack.mark(resource, 'UPDATE_FAILED', refusal);
        return stack.become(
          'UPDATE_ROLLBACK_FAILED',
          `The following resource(s) failed to update: [${resource.logicalId}].`,
        );
      }
      stack.mark(resource, 'UPDATE_COMPLETE');
    }
    stack.become('UPDATE_ROLLBACK_COMPLETE');
  }

  async delete(stack: Stack, retained: readonly string[]): Promise<void> {
    stack.become('DELETE_IN_PROGRESS', 'User Initiated');
    for (const id of retained) {
      const resource = stack.resources.get(id);
      if (resource !== undefined) resource.deletionPolicy = 'Retain';
    }
    const failure = await this.#deleteAll(stack, [...stack.resources.values()].reverse());
    if (failure !== null)
      return stack.become(
        'DELETE_FAILED',
        `The following resource(s) failed to delete: [${failure.ids.join(', ')}].`,
      );
    stack.become('DELETE_COMPLETE');
  }

  async #removeOld(stack: Stack, resource: StackResource, physicalId: string): Promise<void> {
    const old = { ...resource, physicalId };
    stack.mark(old, 'DELETE_IN_PROGRESS');
    this.#cloud.remove(physicalId);
    stack.mark(old, 'DELETE_COMPLETE');
  }

  async #deleteAll(stack: Stack, resources: readonly StackResource[]): Promise<Failure> {
    const failed: string[] = [];
    for (const resource of resources) {
      if (resource.deletionPolicy === 'Retain' && resource.physicalId !== '') {
        stack.mark(resource, 'DELETE_SKIPPED');
        continue;
      }
      stack.mark(resource, 'DELETE_IN_PROGRESS');
      const refusal =
        resource.nested === null
          ? await this.#cloud.work('delete', resource.logicalId)
          : await this.#deleteNested(resource.nested);
      if (refusal !== null) {
        stack.mark(resource, 'DELETE_FAILED', refusal);
        failed.push(resource.logicalId);
        continue;
      }
      this.#cloud.remove(resource.physicalId);
      stack.mark(resource, 'DELETE_COMPLETE');
      stack.resources.delete(resource.logicalId);
    }
    return failed.length === 0 ? null : { ids: failed };
  }

  async #deleteNested(nested: Stack): Promise<string | null> {
    await this.delete(nested, []);
    return nested.isDeleted
      ? null
      : `Embedded stack ${nested.id} was not successfully deleted: ${nested.reason ?? ''}`;
  }
}
