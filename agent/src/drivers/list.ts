/** The driver of every tool that this version can run: one line for each. */
export { opentofu } from './opentofu/driver.ts';
export { terraform } from './terraform/driver.ts';
