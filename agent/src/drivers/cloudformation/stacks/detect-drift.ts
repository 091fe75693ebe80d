/** `detect-drift`: what was changed or deleted outside of its stack, as AWS finds it. */
import {
  DescribeStackDriftDetectionStatusCommand,
  DescribeStackResourceDriftsCommand,
  DetectStackDriftCommand,
  type StackResourceDrift,
} from '@aws-sdk/client-cloudformation';
import { type Api, StackProblem } from './api/api.ts';
import type { DriftReport } from './api/reports.ts';
import { tell } from './api/tell.ts';
import { hide } from './change-set.ts';
import { hiddenValues } from './hidden-values.ts';
import { allResources, Patience, refuseOthers, settledStack, statusOf } from './stack.ts';

/** Waits for the detection. @throws StackProblem if nothing could be detected */
async function detect({ client }: Api, StackName: string): Promise<void> {
  const { StackDriftDetectionId } = await client
    .send(new DetectStackDriftCommand({ StackName }))
    .catch((error: Error & { readonly $metadata?: { readonly httpStatusCode?: number } }) => {
      if ((error.$metadata?.httpStatusCode ?? 0) < 500) throw error;
      throw new StackProblem(`the drift of the stack cannot be detected: ${error.name}: ${error.message}`);
    });
  const patience = new Patience();
  for (;;) {
    const { DetectionStatus, DetectionStatusReason } = await client.send(
      new DescribeStackDriftDetectionStatusCommand({ StackDriftDetectionId }),
    );
    if (DetectionStatus === 'DETECTION_FAILED')
      return tell(
        `Warning: the drift of some resources is unknown: ${DetectionStatusReason ?? 'AWS gives no reason'}`,
      );
    if (DetectionStatus !== 'DETECTION_IN_PROGRESS') return;
    await patience.wait();
  }
}

async function driftsOf({ client }: Api, StackName: string): Promise<StackResourceDrift[]> {
  const found: StackResourceDrift[] = [];
  let NextToken: string | undefined;
  do {
    const page = await client.send(
      new DescribeStackResourceDriftsCommand({
        StackName,
        StackResourceDriftStatusFilters: ['MODIFIED', 'DELETED'],
        ...(NextToken === undefined ? {} : { NextToken }),
      }),
    );
    found.push(...(page.StackResourceDrifts ?? []));
    NextToken = page.NextToken;
  } while (NextToken !== undefined);
  return found;
}

function driftOf(drift: StackResourceDrift, within: readonly string[]): DriftReport['drifts'][number] {
  return {
    logicalId: drift.LogicalResourceId ?? '',
    physicalId: drift.PhysicalResourceId || null,
    type: drift.ResourceType ?? '',
    within,
    status: drift.StackResourceDriftStatus === 'DELETED' ? 'DELETED' : 'MODIFIED',
    differences: (drift.PropertyDifferences ?? []).map(
      ({ PropertyPath = '', ExpectedValue, ActualValue }) => ({
        path: PropertyPath.replace(/^\//, '').replaceAll('/', '.'),
        expected: ExpectedValue ?? null,
        actual: ActualValue ?? null,
      }),
    ),
  };
}

/** A stack and those nested in it: AWS looks at each one alone. */
async function stacksOf(
  api: Api,
  stackId: string,
): Promise<{ readonly id: string; readonly within: readonly string[] }[]> {
  const nested = (await allResources(api, stackId)).filter(
    ({ type, physicalId }) => type === 'AWS::CloudFormation::Stack' && physicalId !== null,
  );
  return [
    { id: stackId, within: [] },
    ...nested.map(({ physicalId, within, logicalId }) => ({
      id: physicalId ?? '',
      within: [...within, logicalId],
    })),
  ];
}

export async function detectDrift(api: Api): Promise<DriftReport> {
  const { request } = api;
  const stack = await settledStack(api, request.stackName);
  if (stack === null || /^(REVIEW_IN_PROGRESS|ROLLBACK_COMPLETE|DELETE_COMPLETE)$/.test(statusOf(stack))) {
    tell(`There is no stack ${request.stackName} whose drift could be detected.`);
    return { drifts: [] };
  }
  refuseOthers(stack, api);
  const hidden = await hiddenValues(api, stack);
  const drifts: DriftReport['drifts'][number][] = [];
  for (const { id, within } of await stacksOf(api, stack.StackId ?? request.stackName)) {
    await detect(api, id);
    drifts.push(...(await driftsOf(api, id)).map((drift) => driftOf(drift, within)));
  }
  tell(drifts.length === 0 ? 'AWS finds no drift.' : `AWS finds drift of ${drifts.length} resources.`);
  return hide({ drifts }, hidden);
}
