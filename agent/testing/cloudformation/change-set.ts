/** For tests: change sets of a stack. */

import { changesOf, type PropertyDetail, type ResourceChange } from './changes.ts';
import type { Cloud } from './cloud.ts';
import type { Fetch } from './life.ts';
import { arnOf, type Stack, type StackInput, shownValue, stackType } from './stack.ts';
import { parseTemplate } from './template.ts';
import type { Answer } from './xml.ts';

export interface ChangeSet {
  readonly id: string;
  readonly name: string;
  readonly stack: Stack;
  readonly type: string;
  readonly description: string | undefined;
  readonly input: StackInput;
  readonly created: Date;
  readonly nested: readonly ChangeSet[];
  status: string;
  statusReason: string | undefined;
  executionStatus: string;
  changes: readonly ResourceChange[];
}

/** Of nested stacks that are there already: their own change sets. */
function nestedOf(stack: Stack, input: StackInput, name: string, fetch: Fetch): ChangeSet[] {
  return input.template.resources.flatMap((declared) => {
    const nested = stack.resources.get(declared.logicalId)?.nested;
    if (declared.type !== stackType || !nested) return [];
    const template = parseTemplate(fetch(String(declared.properties['TemplateURL'])));
    const parameters = nested.input?.parameters ?? new Map<string, string>();
    const nestedInput = { ...input, template, parameters };
    return [
      makeChangeSet(
        {
          name: `${name}-${declared.logicalId}`,
          stack: nested,
          input: nestedInput,
          type: 'UPDATE',
          description: undefined,
        },
        fetch,
      ),
    ];
  });
}

/** A change set that is still to be computed. */
export function makeChangeSet(
  request: Pick<ChangeSet, 'name' | 'stack' | 'type' | 'description' | 'input'>,
  fetch: Fetch | null,
): ChangeSet {
  const { name, stack, input } = request;
  return {
    ...request,
    id: arnOf('changeSet', name),
    created: new Date(),
    nested: fetch === null ? [] : nestedOf(stack, input, name, fetch),
    status: 'CREATE_PENDING',
    statusReason: undefined,
    executionStatus: 'UNAVAILABLE',
    changes: [],
  };
}

/** AWS computes it. */
export function compute(changeSet: ChangeSet, cloud: Cloud): void {
  const { stack, input, nested } = changeSet;
  for (const each of nested) compute(each, cloud);
  const own = changesOf(stack, input, input.revertsDrift === true ? cloud : null);
  const ofNested = nested
    .filter(({ changes }) => changes.length > 0)
    .flatMap((each): ResourceChange[] => {
      const resource = [...stack.resources.values()].find((known) => known.nested === each.stack);
      if (resource === undefined || own.some(({ logicalId }) => logicalId === resource.logicalId)) return [];
      const { logicalId, physicalId, type } = resource;
      return [
        {
          action: 'Modify',
          logicalId,
          physicalId,
          type,
          replacement: 'False',
          policy: undefined,
          details: [],
          before: undefined,
          after: undefined,
          drift: undefined,
        },
      ];
    });
  changeSet.changes = [...own, ...ofNested];
  if (changeSet.changes.length > 0) {
    changeSet.status = 'CREATE_COMPLETE';
    changeSet.executionStatus = 'AVAILABLE';
    return;
  }
  changeSet.status = 'FAILED';
  changeSet.statusReason =
    "The submitted information didn't contain changes. Submit different information to create a change set.";
}

function valueText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function detailAnswer(detail: PropertyDetail, hasValues: boolean): Answer {
  return {
    Target: {
      Attribute: 'Properties',
      Name: detail.name,
      RequiresRecreation: detail.recreation,
      ...(hasValues
        ? {
            Path: `/Properties/${detail.name}`,
            BeforeValue: valueText(detail.before),
            AfterValue: valueText(detail.after),
            AttributeChangeType: detail.before === undefined || detail.before === null ? 'Add' : 'Modify',
          }
        : {}),
    },
    Evaluation: detail.evaluation,
    ChangeSource: detail.source,
    CausingEntity: detail.cause,
  };
}

function changeAnswer(change: ResourceChange, { nested, stack }: ChangeSet, hasValues: boolean): Answer {
  const { before, after, details } = change;
  const resource = stack.resources.get(change.logicalId);
  const own = nested.find((each) => each.stack === resource?.nested);
  return {
    Type: 'Resource',
    ResourceChange: {
      Action: change.action,
      LogicalResourceId: change.logicalId,
      PhysicalResourceId: change.physicalId,
      ResourceType: change.type,
      Replacement: change.replacement,
      PolicyAction: change.policy,
      ResourceDriftStatus: change.drift,
      Scope: change.action === 'Modify' ? [details.length > 0 ? 'Properties' : 'Tags'] : [],
      Details: details.map((detail) => detailAnswer(detail, hasValues)),
      ChangeSetId: own?.id,
      ...(hasValues && before ? { BeforeContext: JSON.stringify({ Properties: before }) } : {}),
      ...(hasValues && after ? { AfterContext: JSON.stringify({ Properties: after }) } : {}),
    },
  };
}

const pageLength = 3;

/** One page of the description. */
export function describeChangeSet(changeSet: ChangeSet, from: number, hasValues: boolean): Answer {
  const { stack, input, changes } = changeSet;
  const next = from + pageLength;
  return {
    ChangeSetName: changeSet.name,
    ChangeSetId: changeSet.id,
    StackId: stack.id,
    StackName: stack.name,
    Description: changeSet.description,
    CreationTime: changeSet.created,
    Status: changeSet.status,
    StatusReason: changeSet.statusReason,
    ExecutionStatus: changeSet.executionStatus,
    Parameters: input.template.parameters.map((parameter) => ({
      ParameterKey: parameter.name,
      ParameterValue: shownValue(parameter, input.parameters),
    })),
    Tags: Object.entries(input.tags).map(([Key, Value]) => ({ Key, Value })),
    Changes: changes.slice(from, next).map((change) => changeAnswer(change, changeSet, hasValues)),
    NextToken: next < changes.length ? String(next) : undefined,
  };
}
