/** `describe-outputs`: outputs and resources of a stack. */

import type { Api } from './api/api.ts';
import type { OutputsReport } from './api/reports.ts';
import { hiddenValues } from './hidden-values.ts';
import { allResources, findStack } from './stack.ts';

export async function describeOutputs(api: Api): Promise<OutputsReport> {
  const { request } = api;
  const stack = await findStack(api, request.stackName);
  if (stack === null) return { outputs: [], resources: [] };
  const hidden = [...request.secrets, ...(await hiddenValues(api, stack))];
  const isSensitive = (value: string) =>
    hidden.some((each) => each === value || (each.length >= 4 && value.includes(each)));
  const resources = await allResources(api, stack.StackId ?? request.stackName);
  return {
    outputs: (stack.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => ({
      name: OutputKey,
      value: OutputValue,
      isSensitive: isSensitive(OutputValue),
    })),
    resources: resources.map(({ logicalId, physicalId, type, within }) => ({
      logicalId,
      physicalId,
      type,
      within,
    })),
  };
}
