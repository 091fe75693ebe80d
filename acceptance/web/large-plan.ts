/** Plans of any size, for pages that show them. */
import type { Plan, ResourceChange } from '#contract/deployments/plan.ts';

export function change(
  path: string,
  action: ResourceChange['action'],
  attributes: object[] = [],
): ResourceChange {
  const attributesOf = attributes as ResourceChange['attributes'];
  return { path, name: path, type: 'aws_instance', providerName: 'aws', action, attributes: attributesOf };
}

/** As many resources as asked for, one of which is destroyed. */
export function largePlan(count: number): Plan {
  const attributes = Array.from({ length: 12 }, (_, at) => ({
    name: `a${at}`,
    before: at,
    after: `new ${at}`,
  }));
  const resourceChanges = Array.from({ length: count }, (_, at) => ({
    ...change(
      `module.region_${at % 20}.aws_instance.server_${at}`,
      at === 3777 ? 'delete' : 'update',
      attributes,
    ),
    moduleName: `module.region_${at % 20}`,
  }));
  return { resourceChanges, outputChanges: [] };
}
