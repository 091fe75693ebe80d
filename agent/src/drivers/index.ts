import type { RunnableTool } from '#protocol/tools/index.ts';
import type { Driver } from './driver.ts';
import { opentofu } from './opentofu/driver.ts';
import { terraform } from './terraform/driver.ts';

/** The driver of every tool that this version can run. */
export const drivers = { terraform, opentofu } as const satisfies Record<RunnableTool, Driver>;
