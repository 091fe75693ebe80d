/** For tests: the stacks of an account, and the actions of CloudFormation on them. */
import { type ChangeSet, compute, describeChangeSet, makeChangeSet } from './change-set.ts';
import { Cloud } from './cloud.ts';
import { AwsError } from './error.ts';
import { type Fetch, Life } from './life.ts';
import {
  freshId,
  Stack,
  type StackEvent,
  type StackInput,
  type StackResource,
  shownValue,
  stackType,
} from './stack.ts';
import { parseTemplate, type Template } from './template.ts';
import type { Answer, Query } from './xml.ts';

function invalid(message: string): AwsError {
  return new AwsError('ValidationError', message);
}

const eventPage = 5;
const capabilityTypes: Readonly<Record<string, string>> = {
  'AWS::IAM::Role': 'RoleName',
  'AWS::IAM::User': 'UserName',
  'AWS::IAM::Group': 'GroupName',
};

/** Capabilities that a template requires. */
function capabilitiesOf({ resources }: Template): string[] {
  const identities = resources.filter(({ type }) => Object.hasOwn(capabilityTypes, type));
  if (identities.length === 0) return [];
  const named = identities.some(
    ({ type, properties }) => properties[capabilityTypes[type] ?? ''] !== undefined,
  );
  return [named ? 'CAPABILITY_NAMED_IAM' : 'CAPABILITY_IAM'];
}

export class Account {
  readonly cloud = new Cloud();
  readonly #stacks: Stack[] = [];
  readonly #changeSets: ChangeSet[] = [];
  readonly #detections = new Map<string, Stack>();
  readonly #working = new Set<Promise<void>>();
  readonly #fetch: Fetch;
  readonly #life: Life;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
    this.#life = new Life(this.cloud, fetch);
  }

  /** The newest stack of a name. @throws Error if there is none */
  stack(name: string): Stack {
    const found = this.#stacks.findLast((each) => each.name === name);
    if (found === undefined) throw new Error(`there is no stack ${name}`);
    return found;
  }

  get changeSets(): readonly ChangeSet[] {
    return this.#changeSets;
  }

  /** Names of stacks that are there. */
  get stackNames(): string[] {
    return this.#stacks.filter(({ isDeleted }) => !isDeleted).map(({ name }) => name);
  }

  /** Waits until nothing is being worked on. */
  async idle(): Promise<void> {
    await Promise.all(this.#working);
  }

  /** Updates a stack without a change set, as another user does. */
  async updateByHand(name: string, body: string): Promise<void> {
    const stack = this.stack(name);
    const before = stack.input;
    if (before === null) throw new Error(`${name} has no template`);
    this.#outdate(stack, undefined);
    await this.#life.update(stack, { ...before, template: parseTemplate(body) });
  }

  /** Creates a stack, as another user does. */
  async createByHand(name: string, body: string): Promise<void> {
    const stack = new Stack(name);
    this.#stacks.push(stack);
    await this.#life.create(
      stack,
      { template: parseTemplate(body), parameters: new Map(), tags: {} },
      { rollsBack: true },
    );
  }

  /** @throws AwsError as AWS answers */
  answer(action: string, query: Query): Answer {
    const actions: Readonly<Record<string, (query: Query) => Answer>> = {
      GetTemplateSummary: (query) => this.#summary(query),
      CreateChangeSet: (query) => this.#createChangeSet(query),
      DescribeChangeSet: (query) =>
        describeChangeSet(
          this.#changeSet(query),
          Number(query.text('NextToken') ?? 0),
          query.text('IncludePropertyValues') === 'true',
        ),
      ListChangeSets: (query) => this.#listChangeSets(query),
      DeleteChangeSet: (query) => this.#deleteChangeSet(query),
      ExecuteChangeSet: (query) => this.#execute(query),
      DescribeStacks: (query) => ({ Stacks: [this.#describe(this.#find(query))] }),
      DescribeStackEvents: (query) => this.#events(query),
      ListStackResources: (query) => this.#resources(query),
      GetTemplate: (query) => ({ TemplateBody: this.#find(query).input?.template.body ?? '' }),
      DeleteStack: (query) => this.#delete(query),
      CancelUpdateStack: (query) => this.#cancel(query),
      ContinueUpdateRollback: (query) => this.#continueRollback(query),
      DetectStackDrift: (query) => this.#detect(query),
      DescribeStackDriftDetectionStatus: (query) => this.#detection(query),
      DescribeStackResourceDrifts: (query) => this.#drifts(query),
    };
    const found = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (found === undefined)
      throw new AwsError('InvalidAction', `Could not find operation ${action} for version 2010-05-15`);
    return found(query);
  }

  #work(work: Promise<void>): void {
    const done = work.finally(() => this.#working.delete(done));
    this.#working.add(done);
  }

  /** Nested stacks are stacks, too. */
  #all(): Stack[] {
    const nested = (stack: Stack): Stack[] => [
      stack,
      ...[...stack.resources.values()].flatMap((each) => (each.nested === null ? [] : nested(each.nested))),
    ];
    return this.#stacks.flatMap(nested);
  }

  #find(query: Query): Stack {
    const name = query.text('StackName') ?? '';
    const found = this.#all().findLast((each) => each.id === name || (each.name === name && !each.isDeleted));
    if (found === undefined) throw invalid(`Stack with id ${name} does not exist`);
    return found;
  }

  #changeSet(query: Query): ChangeSet {
    const name = query.text('ChangeSetName') ?? '';
    const nested = (each: ChangeSet): ChangeSet[] => [each, ...each.nested.flatMap(nested)];
    const found = this.#changeSets
      .flatMap(nested)
      .findLast(
        (each) => each.id === name || (each.name === name && each.stack.name === query.text('StackName')),
      );
    if (found === undefined)
      throw new AwsError('ChangeSetNotFound', `ChangeSet [${name}] does not exist`, 404);
    return found;
  }

  #templateOf(query: Query): Template {
    const body = query.text('TemplateBody');
    if (body !== undefined && Buffer.byteLength(body) > 51_200)
      throw invalid(
        "1 validation error detected: Value at 'templateBody' failed to satisfy constraint: Member must have length less than or equal to 51200",
      );
    const url = query.text('TemplateURL');
    if (body !== undefined) return parseTemplate(body);
    if (url !== undefined) return parseTemplate(this.#fetch(url));
    const { input } = this.#find(query);
    if (input === null) throw invalid('Stack has no template');
    return input.template;
  }

  #summary(query: Query): Answer {
    const template = this.#templateOf(query);
    const capabilities = capabilitiesOf(template);
    const types = template.resources.map(({ type }) => type);
    return {
      Description: template.description,
      Parameters: template.parameters.map((each) => ({
        ParameterKey: each.name,
        DefaultValue: each.default,
        ParameterType: each.type,
        NoEcho: each.isHidden,
      })),
      Capabilities: capabilities,
      CapabilitiesReason:
        capabilities.length === 0
          ? undefined
          : `The following resource(s) require capabilities: [${types.filter((type) => Object.hasOwn(capabilityTypes, type)).join(', ')}]`,
      ResourceTypes: [...new Set(types)],
    };
  }

  #createChangeSet(query: Query): Answer {
    const template = this.#templateOf(query);
    const name = query.text('ChangeSetName') ?? '';
    const stackName = query.text('StackName') ?? '';
    const isCreation = query.text('ChangeSetType') === 'CREATE';
    const revertsDrift = query.text('DeploymentMode') === 'REVERT_DRIFT';
    const input = { ...this.#input(query, template), revertsDrift };
    const stack = this.#stackFor(stackName, isCreation);
    if (this.#changeSets.some((each) => each.stack === stack && each.name === name))
      throw new AwsError(
        'AlreadyExistsException',
        `ChangeSet ${name} cannot be created due to a mismatch with existing attribute StackName`,
      );
    const changeSet = makeChangeSet(
      { name, stack, input, type: isCreation ? 'CREATE' : 'UPDATE', description: query.text('Description') },
      query.text('IncludeNestedStacks') === 'true' ? this.#fetch : null,
    );
    this.#changeSets.push(changeSet);
    setTimeout(() => compute(changeSet, this.cloud), 5);
    return { Id: changeSet.id, StackId: stack.id };
  }

  #input(query: Query, template: Template): StackInput {
    const parameters = new Map(
      query.maps('Parameters').map((each) => [each['ParameterKey'] ?? '', each['ParameterValue'] ?? '']),
    );
    const strange = [...parameters.keys()].filter(
      (name) => !template.parameters.some((each) => each.name === name),
    );
    if (strange.length > 0) throw invalid(`Parameters: [${strange.join(', ')}] do not exist in the template`);
    const missing = template.parameters.filter(
      (each) => each.default === undefined && !parameters.has(each.name),
    );
    if (missing.length > 0)
      throw invalid(`Parameters: [${missing.map(({ name }) => name).join(', ')}] must have values`);
    const needed = capabilitiesOf(template);
    const allowed = query.list('Capabilities');
    const isAllowed = needed.every(
      (each) => allowed.includes(each) || allowed.includes('CAPABILITY_NAMED_IAM'),
    );
    if (!isAllowed)
      throw new AwsError(
        'InsufficientCapabilitiesException',
        `Requires capabilities : [${needed.join(', ')}]`,
      );
    return {
      template,
      parameters: new Map(
        template.parameters.map((each) => [each.name, parameters.get(each.name) ?? each.default ?? '']),
      ),
      tags: Object.fromEntries(query.maps('Tags').map((each) => [each['Key'] ?? '', each['Value'] ?? ''])),
    };
  }

  #stackFor(name: string, isCreation: boolean): Stack {
    const found = this.#stacks.findLast((each) => each.name === name && !each.isDeleted);
    if (!isCreation) {
      if (found === undefined) throw invalid(`Stack [${name}] does not exist`);
      const isStable = /^(CREATE|UPDATE|UPDATE_ROLLBACK|IMPORT)_COMPLETE$|^UPDATE_FAILED$/.test(found.status);
      if (!isStable) throw invalid(`Stack:${found.id} is in ${found.status} state and can not be updated.`);
      return found;
    }
    if (found !== undefined && found.status !== 'REVIEW_IN_PROGRESS')
      throw invalid(
        `Stack [${name}] already exists and cannot be created again with the changeSet type CREATE`,
      );
    if (found !== undefined) return found;
    const stack = new Stack(name);
    this.#stacks.push(stack);
    stack.become('REVIEW_IN_PROGRESS', 'User Initiated');
    return stack;
  }

  #listChangeSets(query: Query): Answer {
    const stack = this.#find(query);
    const found = this.#changeSets.filter((each) => each.stack === stack);
    return {
      Summaries: found.map((each) => ({
        StackId: stack.id,
        StackName: stack.name,
        ChangeSetId: each.id,
        ChangeSetName: each.name,
        ExecutionStatus: each.executionStatus,
        Status: each.status,
        CreationTime: each.created,
        Description: each.description,
      })),
    };
  }

  #deleteChangeSet(query: Query): Answer {
    const changeSet = this.#changeSet(query);
    if (changeSet.executionStatus === 'EXECUTE_IN_PROGRESS')
      throw new AwsError('InvalidChangeSetStatus', 'The change set is being executed');
    this.#changeSets.splice(this.#changeSets.indexOf(changeSet), 1);
    return {};
  }

  /** Other change sets of a stack are of no use once it changes. */
  #outdate(stack: Stack, executed: ChangeSet | undefined): void {
    for (const each of this.#changeSets)
      if (each.stack === stack && each !== executed) each.executionStatus = 'OBSOLETE';
  }

  #execute(query: Query): Answer {
    const changeSet = this.#changeSet(query);
    const { stack, input, id } = changeSet;
    if (changeSet.executionStatus !== 'AVAILABLE')
      throw new AwsError(
        'InvalidChangeSetStatus',
        `ChangeSet [${id}] cannot be executed in its current status of [${changeSet.status}]`,
      );
    stack.token = query.text('ClientRequestToken');
    changeSet.executionStatus = 'EXECUTE_IN_PROGRESS';
    this.#outdate(stack, changeSet);
    const rollsBack = query.text('DisableRollback') !== 'true';
    const work =
      changeSet.type === 'CREATE'
        ? this.#life.create(stack, input, { rollsBack })
        : this.#life.update(stack, input);
    this.#work(
      work.then(() => {
        const isGood = /^(CREATE|UPDATE)_COMPLETE$/.test(stack.status);
        changeSet.executionStatus = isGood ? 'EXECUTE_COMPLETE' : 'EXECUTE_FAILED';
      }),
    );
    return {};
  }

  #describe(stack: Stack): Answer {
    const { input } = stack;
    return {
      StackId: stack.id,
      StackName: stack.name,
      ParentId: stack.parentId,
      CreationTime: stack.created,
      StackStatus: stack.status,
      StackStatusReason: stack.reason,
      EnableTerminationProtection: stack.isProtected,
      Parameters: (input?.template.parameters ?? []).map((each) => ({
        ParameterKey: each.name,
        ParameterValue: shownValue(each, input?.parameters ?? new Map()),
      })),
      Outputs: Object.entries(stack.outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue })),
      Tags: Object.entries(input?.tags ?? {}).map(([Key, Value]) => ({ Key, Value })),
    };
  }

  #events(query: Query): Answer {
    const stack = this.#find(query);
    const token = query.text('NextToken');
    // A page begins at an event, not at a number: new ones come before it.
    const from = token === undefined ? 0 : stack.events.findIndex(({ id }) => id === token);
    const page = stack.events.slice(from, from + eventPage);
    const event = (each: StackEvent): Answer => ({
      StackId: stack.id,
      EventId: each.id,
      StackName: stack.name,
      LogicalResourceId: each.logicalId,
      PhysicalResourceId: each.physicalId,
      ResourceType: each.type,
      Timestamp: each.time,
      ResourceStatus: each.status,
      ResourceStatusReason: each.reason,
      ClientRequestToken: each.token,
    });
    return { StackEvents: page.map(event), NextToken: stack.events[from + eventPage]?.id };
  }

  #resources(query: Query): Answer {
    const resource = (each: StackResource): Answer => ({
      LogicalResourceId: each.logicalId,
      PhysicalResourceId: each.physicalId === '' ? undefined : each.physicalId,
      ResourceType: each.type,
      LastUpdatedTimestamp: new Date(),
      ResourceStatus: each.status,
      ResourceStatusReason: each.reason,
    });
    return { StackResourceSummaries: [...this.#find(query).resources.values()].map(resource) };
  }

  #delete(query: Query): Answer {
    const name = query.text('StackName') ?? '';
    const stack = this.#all().findLast((each) => each.id === name || (each.name === name && !each.isDeleted));
    if (stack === undefined || stack.isDeleted) return {};
    if (stack.isProtected)
      throw invalid(`Stack [${stack.name}] cannot be deleted while TerminationProtection is enabled`);
    const retained = query.list('RetainResources');
    if (retained.length > 0 && stack.status !== 'DELETE_FAILED')
      throw invalid(
        `Invalid operation on stack [${stack.id}]. Specify a list of resources to retain only when the current stack state is DELETE_FAILED.`,
      );
    stack.token = query.text('ClientRequestToken');
    for (const each of this.#changeSets.filter((known) => known.stack === stack))
      this.#changeSets.splice(this.#changeSets.indexOf(each), 1);
    this.#work(this.#life.delete(stack, retained));
    return {};
  }

  #cancel(query: Query): Answer {
    const stack = this.#find(query);
    if (stack.status !== 'UPDATE_IN_PROGRESS')
      throw invalid('CancelUpdateStack cannot be called from current stack status');
    stack.cancel();
    return {};
  }

  #continueRollback(query: Query): Answer {
    const stack = this.#find(query);
    if (stack.status !== 'UPDATE_ROLLBACK_FAILED')
      throw invalid(`Stack:${stack.id} is in ${stack.status} state and can not continue update rollback.`);
    this.#work(this.#life.continueRollback(stack, query.list('ResourcesToSkip')));
    return {};
  }

  #detect(query: Query): Answer {
    const stack = this.#find(query);
    if (!/^(CREATE|UPDATE|UPDATE_ROLLBACK)_(COMPLETE|FAILED)$/.test(stack.status))
      throw invalid(
        `Drift detection cannot be performed on stack [${stack.id}] while it is in ${stack.status} status`,
      );
    const id = freshId();
    this.#detections.set(id, stack);
    return { StackDriftDetectionId: id };
  }

  #detection(query: Query): Answer {
    const id = query.text('StackDriftDetectionId') ?? '';
    const stack = this.#detections.get(id);
    if (stack === undefined) throw invalid(`Drift detection [${id}] does not exist`);
    const drifted = this.#driftsOf(stack).length;
    return {
      StackId: stack.id,
      StackDriftDetectionId: id,
      StackDriftStatus: drifted > 0 ? 'DRIFTED' : 'IN_SYNC',
      DetectionStatus: 'DETECTION_COMPLETE',
      DriftedStackResourceCount: drifted,
      Timestamp: new Date(),
    };
  }

  #driftsOf(stack: Stack): Record<string, Answer | undefined>[] {
    return [...stack.resources.values()]
      .filter(({ type }) => type !== stackType)
      .flatMap((each) => {
        const found = this.cloud.differences(each.physicalId, each.wanted);
        if (found !== null && found.length === 0) return [];
        const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value ?? null));
        return [
          {
            StackId: stack.id,
            LogicalResourceId: each.logicalId,
            PhysicalResourceId: each.physicalId,
            ResourceType: each.type,
            StackResourceDriftStatus: found === null ? 'DELETED' : 'MODIFIED',
            PropertyDifferences: (found ?? []).map(({ path, expected, actual }) => ({
              PropertyPath: path,
              ExpectedValue: shown(expected),
              ActualValue: shown(actual),
              DifferenceType: 'NOT_EQUAL',
            })),
            Timestamp: new Date(),
          },
        ];
      });
  }

  #drifts(query: Query): Answer {
    return { StackResourceDrifts: this.#driftsOf(this.#find(query)) };
  }
}
