/** A change set as AWS describes it: all of its pages, and those of nested stacks. */
import { createHash } from 'node:crypto';
import {
  type Change,
  DescribeChangeSetCommand,
  type DescribeChangeSetOutput,
  type ResourceChange,
  type ResourceChangeDetail,
} from '@aws-sdk/client-cloudformation';
import { parseExactly } from '#contract/schema/exact-json.ts';
import { isRecord } from '#contract/schema/is-record.ts';
import { canonicalJson } from '../../interface/canonical-json.ts';
import type { Api } from './api/api.ts';
import type { ChangeSetReport, PropertyChange, StackChange } from './api/reports.ts';

/** All pages of one. @returns null if there is none of this id */
export async function readPages(
  { client }: Pick<Api, 'client'>,
  ChangeSetName: string,
  StackName?: string,
): Promise<(DescribeChangeSetOutput & { readonly Changes: Change[] }) | null> {
  const found: Change[] = [];
  let NextToken: string | undefined;
  try {
    for (;;) {
      const page: DescribeChangeSetOutput = await client.send(
        new DescribeChangeSetCommand({
          ChangeSetName,
          IncludePropertyValues: true,
          ...(StackName === undefined ? {} : { StackName }),
          ...(NextToken === undefined ? {} : { NextToken }),
        }),
      );
      found.push(...(page.Changes ?? []));
      NextToken = page.NextToken;
      if (NextToken === undefined) return { ...page, Changes: found };
    }
  } catch (error) {
    const { name, message } = error as Error;
    if (name.startsWith('ChangeSetNotFound') || /does not exist/.test(message)) return null;
    throw error;
  }
}

function parsed(context: string | undefined): Record<string, unknown> {
  try {
    const found = parseExactly(context ?? '{}');
    return isRecord(found) ? found : {};
  } catch {
    return {};
  }
}

/** Value of `{"Properties": …}` at a path such as `/Properties/Tags/0/Value`. */
function valueAt(context: Record<string, unknown>, name: string): unknown {
  const properties = context['Properties'];
  return isRecord(properties) ? properties[name] : undefined;
}

function causeOf({ ChangeSource, CausingEntity }: ResourceChangeDetail): string | null {
  if (CausingEntity === undefined || CausingEntity === '') return null;
  return ChangeSource === 'ParameterReference' ? `the parameter ${CausingEntity}` : CausingEntity;
}

function readable(text: string | undefined): unknown {
  return text === undefined || text === '' ? null : text;
}

/** The details of a change, each property once; whole values only where AWS gives them. */
function propertiesOf(change: ResourceChange): PropertyChange[] {
  const before = parsed(change.BeforeContext);
  const after = parsed(change.AfterContext);
  const found = new Map<string, PropertyChange>();
  for (const detail of change.Details ?? []) {
    const { Attribute, Name, RequiresRecreation, BeforeValue, AfterValue } = detail.Target ?? {};
    const name = Name ?? Attribute ?? '';
    // The same property may be named for each of its causes.
    const known = found.get(name);
    found.set(name, {
      name,
      before: known?.before ?? readable(BeforeValue) ?? valueAt(before, name) ?? null,
      after: known?.after ?? readable(AfterValue) ?? valueAt(after, name) ?? null,
      recreation: known?.recreation === 'Always' ? 'Always' : (RequiresRecreation ?? null),
      cause: known?.cause ?? causeOf(detail),
    });
  }
  if (found.size > 0) return [...found.values()];
  const all = change.Action === 'Add' ? after : before;
  const properties = isRecord(all['Properties']) ? all['Properties'] : {};
  return Object.entries(properties).map(([name, value]) => ({
    name,
    before: change.Action === 'Add' ? null : value,
    after: change.Action === 'Add' ? value : null,
    recreation: null,
    cause: null,
  }));
}

function changeOf(change: ResourceChange, within: readonly string[]): StackChange {
  return {
    action: change.Action ?? 'Modify',
    logicalId: change.LogicalResourceId ?? '',
    physicalId: change.PhysicalResourceId || null,
    type: change.ResourceType ?? '',
    within,
    replacement: change.Action === 'Modify' ? (change.Replacement ?? null) : null,
    policy: change.PolicyAction ?? null,
    properties: propertiesOf(change),
    isDrifted: /^(MODIFIED|DELETED)$/.test(change.ResourceDriftStatus ?? ''),
  };
}

async function changesIn(
  api: Pick<Api, 'client'>,
  changes: readonly Change[],
  within: readonly string[],
): Promise<StackChange[]> {
  const found: StackChange[] = [];
  for (const { ResourceChange: change } of changes) {
    if (change === undefined) continue;
    found.push(changeOf(change, within));
    if (change.ChangeSetId === undefined) continue;
    const nested = await readPages(api, change.ChangeSetId);
    found.push(...(await changesIn(api, nested?.Changes ?? [], [...within, change.LogicalResourceId ?? ''])));
  }
  return found;
}

function hashOf(changes: readonly StackChange[]): string {
  const sorted = changes.map((change) => canonicalJson(change)).sort();
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
}

/** Replaces values in everything that is reported: AWS masks parameters with NoEcho, others that speak its protocol may not. */
export function hide<Value>(value: Value, hidden: readonly string[]): Value {
  const values = hidden.filter((each) => each.length > 0).sort((left, right) => right.length - left.length);
  const hideIn = (part: unknown): unknown => {
    if (typeof part === 'string')
      return values.reduce(
        (text, each) => (each.length < 4 && text !== each ? text : text.replaceAll(each, '****')),
        part,
      );
    if (Array.isArray(part)) return part.map(hideIn);
    if (!isRecord(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, entry]) => [key, hideIn(entry)]));
  };
  return values.length === 0 ? value : (hideIn(value) as Value);
}

/** Changes in progress belong to the deployment that approved them, even if it has failed since. */
const begun = ['EXECUTE_IN_PROGRESS', 'EXECUTE_COMPLETE', 'EXECUTE_FAILED'];

function stateOf({
  Status,
  StatusReason,
  ExecutionStatus = 'AVAILABLE',
}: DescribeChangeSetOutput): ChangeSetReport['state'] {
  if (begun.includes(ExecutionStatus)) return 'begun';
  if (ExecutionStatus === 'OBSOLETE')
    return {
      problem: 'the stack was changed after the plan, which made its change set obsolete',
    };
  if (Status === 'CREATE_COMPLETE' && ExecutionStatus === 'AVAILABLE') return 'ready';
  const why = StatusReason ? `: ${StatusReason}` : '';
  return { problem: `the change set is ${Status} and ${ExecutionStatus}${why}` };
}

/** The report on a change set. @param hidden values that it must not show */
export async function reportOn(
  api: Pick<Api, 'client'>,
  described: DescribeChangeSetOutput & { readonly Changes: Change[] },
  { isCreation, hidden }: { readonly isCreation: boolean; readonly hidden: readonly string[] },
): Promise<ChangeSetReport> {
  const changes = await changesIn(api, described.Changes, []);
  return {
    stackId: described.StackId ?? '',
    changeSetId: described.ChangeSetId ?? '',
    isCreation,
    state: stateOf(described),
    changes: hide(changes, hidden),
    hash: hashOf(changes),
  };
}
