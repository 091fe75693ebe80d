/** The drivers of all supported tools, one per line. */
export { opentofu } from './opentofu/driver.ts';
export { terraform } from './terraform/driver.ts';
