/** Plans of any size, in a page that shows them. */
import type { Page } from 'playwright-core';
import type { Plan, ResourceChange } from '#contract/deployments/plan.ts';

export function change(
  path: string,
  action: ResourceChange['action'],
  attributes: object[] = [],
): ResourceChange {
  const attributesOf = attributes as ResourceChange['attributes'];
  return { path, name: path, type: 'aws_instance', providerName: 'aws', action, attributes: attributesOf };
}

/** As many resources as requested, one of which is destroyed. */
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

/** Answers with another plan in the place of those of deployments, as the service would. */
export async function answerPlan(page: Page, plan: Plan): Promise<void> {
  await page.route(/deployments\/[^/?]+\?fields=plan/, (route) => route.fulfill({ json: { plan } }));
}

/** Scrolls a plan down and up again. @param afterStep is called when a step was drawn */
export async function scrollPlan(page: Page, afterStep?: () => Promise<void>): Promise<void> {
  await page.mouse.move(700, 600);
  for (let at = 0; at < 60; at++) {
    await page.mouse.wheel(0, at < 30 ? 1500 : -1500);
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => resolve()))');
    await afterStep?.();
  }
}
