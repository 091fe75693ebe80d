import type { RunnableTool } from '#protocol/steps.ts';
import type { Driver } from './driver.ts';
import { terraform } from './terraform.ts';

/** The driver of every tool that this version can run. */
export const drivers = { terraform } as const satisfies Record<RunnableTool, Driver>;
